/*
 * Takes the pictures of docs/ from the running app: node scripts/shots.mjs [--minutes N]. On the desktop shell where an Electron can
 * be had (under xvfb-run without a display), else in Chromium on the server shell. The queue is worked on for N
 * minutes (default 4) before, so that there is something to see. Needs what `npm test -- --only e2e` needs, and a build.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { electronForTests } from './electron-for-tests.mjs'
import { ensureBuild, ensureDependencies, root, run, runCommand, say, toolEnv, toolNode } from './setup.mjs'

const size = { width: 1280, height: 800 }
const themes = ['Dark', 'Light']
const underXvfb = 'TASKDECK_SHOTS_XVFB'
const minuteMs = 60_000

await runCommand(async () => {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '4' } } })
  const minutes = Number(values.minutes)
  if (!(minutes > 0 && minutes <= 60)) throw new Error('--minutes is a number up to 60')
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env[underXvfb]) return runUnderXvfb(minutes)
  await ensureDependencies()
  await ensureBuild()
  await takeAll(await chooseShell(), minutes)
  return 0
})

async function runUnderXvfb(minutes) {
  const command = ['-a', '-s', '-screen 0 1600x1000x24', toolNode(), import.meta.filename, '--minutes', String(minutes)]
  const env = toolEnv({ [underXvfb]: '1' })
  const { code } = await run('xvfb-run', command, { env, deadlineMs: (minutes + 10) * minuteMs, show: true })
  return code
}

async function chooseShell() {
  if (!process.env.DISPLAY) return 'server'
  try {
    Object.assign(process.env, await electronForTests())
    return 'electron'
  } catch (error) {
    say(`No Electron here, so the pictures are of the page in Chromium: ${error.message}`)
    return 'server'
  }
}

async function takeAll(kind, minutes) {
  // Loaded only now: the packages that they need may just have been installed.
  const operator = await import('../test/e2e/support/operator.ts')
  const { openShell } = await import('../test/e2e/support/shells.ts')
  const { connect } = await import('../test/e2e/support/connection-form.ts')
  const { newDataDir } = await import('../test/e2e/support/build.ts')
  const { fillHistory } = await import('../test/support/demo-history.ts')
  const { startPrivateMariaDb } = await import('../test/support/mariadb.ts')

  const dataDir = newDataDir()
  say(`${await fillHistory(dataDir, { connectionId: 'local', hours: 24 })} readings of the day before`)
  const mariadb = await startPrivateMariaDb()
  const shell = await openShell(kind, { dataDir })
  const page = operator.patient(shell.page)
  try {
    await page.setViewportSize(size)
    await watchDatabases(page, { mariadb, connect })
    await fillQueue(page, operator, minutes)
    for (const theme of themes) await takeTheme(page, operator, theme)
    if (shell.problems.length > 0) throw new Error(`The page has problems:\n${shell.problems.join('\n')}`)
  } finally {
    await shell.stop()
    rmSync(dirname(dataDir), { recursive: true, force: true })
    await mariadb.stop()
  }
}

/** Two more connections for the list. */
async function watchDatabases(page, { mariadb, connect }) {
  const { host, port, user, password } = mariadb
  for (const [name, environment] of [
    ['orders-staging', 'Staging'],
    ['orders-dev', 'Development']
  ]) {
    const database = name.replace('-', '_')
    await mariadb.createDatabase(database)
    await connect(page, { name, environment, host, port, user, password, database })
  }
}

/** Several kinds of load one after the other, an import, and tasks that wait. */
async function fillQueue(page, operator, minutes) {
  await operator.openConnection(page, 'Local queue')
  await operator.startWorker(page)
  for (const [kind, share] of [
    ['Steady', 0.3],
    ['Spike', 0.45],
    ['Failing', 0.2],
    ['Steady', 0.05]
  ]) {
    say(`${kind} load for ${Math.round(share * minutes * 60)} s`)
    await operator.openPage(page, 'Local worker')
    await page.getByRole('button', { name: `Start: ${kind}` }).click()
    await page.getByRole('button', { name: `Stop: ${kind}` }).waitFor()
    if (kind === 'Spike') await operator.enqueue(page, { type: 'import-csv', title: 'Orders of April' })
    await operator.openPage(page, 'Overview')
    await delay(share * minutes * minuteMs)
  }
}

async function takeTheme(page, operator, theme) {
  await operator.openPage(page, 'Settings')
  await page.getByText(theme, { exact: true }).click()
  const take = async (name) => {
    const file = join(root, 'docs', `${name}-${theme.toLowerCase()}.png`)
    mkdirSync(join(root, 'docs'), { recursive: true })
    await page.mouse.move(size.width - 1, size.height - 1)
    await delay(1_500) // charts and popovers come to rest
    await page.screenshot({ path: file })
    say(`${file} (${Math.round(statSync(file).size / 1024)} KB)`)
  }
  await operator.openPage(page, 'Overview')
  await take('overview')
  await operator.openPage(page, 'Tasks')
  await page.getByLabel('Id, business key or start of a title').fill('Orders')
  await operator.taskRow(page, 'Orders of April').first().click()
  await operator.seesState(page, 'Partial success')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await take('tasks')
  await operator.openPage(page, 'Workers')
  await take('workers')
  for (const name of ['Alerts', 'Capacity', 'Fleet', 'Local worker']) {
    await operator.openPage(page, name)
    await take(name.toLowerCase().replace(' ', '-'))
  }
  await operator.openPage(page, 'Connections')
  await page.getByRole('row').filter({ hasText: 'orders-dev' }).click()
  await take('connections')
}
