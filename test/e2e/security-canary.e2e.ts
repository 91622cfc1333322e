import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/mariadb.ts'
import { openInBrowser } from './support/browser.ts'
import { eventually } from './support/eventually.ts'
import { launchElectron } from './support/electron-shell.ts'
import { connectRpc } from './support/rpc.ts'
import { launchServer } from './support/server-shell.ts'

/** Part of every password used here: it survives JSON, URL and shell escaping as it is. */
const canary = 'cnry7f3a9c11d2'
const password = `p"ä$ ${canary}`
const wrongPassword = `wrong ${canary}`

let database: TestDatabase
let target: { host: string; port: number; user: string; database: string }

beforeAll(async () => {
  const serverUrl = inject('mariadbUrl')
  database = await createTestDatabase(serverUrl)
  const { hostname, port } = new URL(serverUrl)
  target = { host: hostname, port: Number(port), user: `canary_${database.name.slice(-8)}`, database: database.name }
  const admin = await mysql.createConnection(serverUrl)
  await admin.query(`CREATE USER ?@'%' IDENTIFIED BY ?`, [target.user, password])
  await admin.query(`GRANT ALL ON \`${database.name}\`.* TO ?@'%'`, [target.user])
  await admin.end()
})
afterAll(async () => {
  const admin = await mysql.createConnection(inject('mariadbUrl'))
  await admin.query(`DROP USER IF EXISTS ?@'%'`, [target.user])
  await admin.end()
  await database?.drop()
})

const draft = (name: string, secret: string) => ({
  name,
  environment: 'development' as const,
  accessMode: 'read-write' as const,
  mysql: { ...target },
  password: secret,
  keepPassword: 'session' as const
})

/** The canary as it may lie in a file: plain, as UTF-16, or inside Base64 at any of its three offsets. */
function spellings(): Buffer[] {
  const base64 = [0, 1, 2].map((pad) => {
    const text = Buffer.from('x'.repeat(pad) + canary).toString('base64')
    return Buffer.from(text.slice(pad === 0 ? 0 : 4, -4))
  })
  return [Buffer.from(canary), Buffer.from(canary, 'utf16le'), ...base64]
}

function filesWithCanary(folder: string): string[] {
  const wanted = spellings()
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
    .filter((file) => {
      const bytes = readFileSync(file)
      return wanted.some((spelling) => bytes.includes(spelling))
    })
}

const textOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      JSON.stringify({ ...localStorage }),
      JSON.stringify({ ...sessionStorage }),
      location.href,
      document.cookie
    ].join('\n')
  )

describe('a password', () => {
  it('that reaches the server shell is found nowhere afterwards', async () => {
    const server = await launchServer()
    const { browser, page } = await openInBrowser(server)
    const wire: string[] = []
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => wire.push(String(payload))))
    await eventually(() => page.evaluate(() => sessionStorage.getItem('taskdeck.session'))).not.toBeNull()
    await page.reload()
    const session = (await page.evaluate(() => sessionStorage.getItem('taskdeck.session'))) ?? ''
    const { client, received, close } = await connectRpc(server, session)

    const wrong = await client.connections.save(draft('Wrong', wrongPassword))
    expect(wrong.link).toMatchObject({ status: 'locked', problem: { code: 'LOGIN_REFUSED' } })
    const steps = []
    for await (const step of await client.connections.test(draft('Wrong', wrongPassword))) steps.push(step)
    expect(steps.at(-1)).toMatchObject({ step: 'login', status: 'failed' })

    const saved = await client.connections.save(draft('Right', password))
    expect(saved).toMatchObject({ password: 'session', link: { status: 'schema', schema: 'missing' } })
    const connectionId = saved.id
    const plan = await client.connections.schemaPlan({ connectionId })
    const planHash = createHash('sha256')
      .update(plan.map(({ sql }) => sql).join('\n'))
      .digest('hex')
    expect((await client.connections.migrate({ connectionId, planHash })).link.status).toBe('live')
    await client.localWorker.start({ connectionId, slots: 2, handlersDir: null })
    await client.tasks.submit({ connectionId, task: { type: 'sleep', payload: '{"ms":1}' }, count: 5 })
    await eventually(
      async () => (await client.tasks.list({ connectionId, filter: { states: ['SUCCESS'] } })).rows.length
    ).toBe(5)
    await client.localWorker.log()
    await client.overview.snapshot({ connectionId, rangeMs: 900_000 })
    await client.connections.setAccessMode({ connectionId, accessMode: 'read-only' })
    await client.connections.list()
    await page.goto(`${server.origin}/#/c/${connectionId}/overview`)
    await page.goto(`${server.origin}/#/connections`)
    await eventually(() => page.evaluate(() => document.body.innerText)).toContain('Right')

    expect(await textOf(page)).not.toContain(canary)
    expect(wire.length).toBeGreaterThan(0)
    expect(wire.join('\n')).not.toContain(canary)
    expect(received.join('\n')).not.toContain(canary)
    close()
    await browser.close()
    server.process.kill('SIGTERM')
    await eventually(() => server.process.exitCode).toBe(0)
    expect(server.output()).not.toContain(canary)
    expect(filesWithCanary(server.dataDir)).toEqual([])
    await server.stop()
  })

  it('that reaches the desktop shell is found nowhere afterwards, and the vault is refused where there is none', async () => {
    const shell = await launchElectron()
    const answers = await shell.page.evaluate(
      async ({ draft, wrong }) => {
        const { port1, port2 } = new MessageChannel()
        const seen: string[] = []
        const waiting = new Map<string, (text: string) => void>()
        port1.onmessage = ({ data }) => {
          const text = String(data)
          seen.push(text)
          const { i } = JSON.parse(text) as { i: string }
          waiting.get(i)?.(text)
        }
        window.postMessage('orpc:connect', '*', [port2])
        const call = (id: string, path: string, json: unknown): Promise<string> => {
          const answer = new Promise<string>((resolve) => waiting.set(id, resolve))
          port1.postMessage(JSON.stringify({ i: id, p: { u: path, b: { json } } }))
          return answer
        }
        const vault = await call('1', '/connections/save', { ...draft, name: 'Vault', keepPassword: 'vault' })
        const session = await call('2', '/connections/save', draft)
        await call('3', '/connections/save', { ...wrong, name: 'Wrong' })
        await call('4', '/connections/list', undefined)
        return { vault, session, seen: seen.join('\n') }
      },
      { draft: draft('Right', password), wrong: draft('Wrong', wrongPassword) }
    )
    const hasVault = await shell.app.evaluate(
      ({ safeStorage }) => safeStorage.getSelectedStorageBackend() !== 'basic_text'
    )
    expect(answers.vault).toContain(hasVault ? '"password":"vault"' : 'VAULT_UNAVAILABLE')
    expect(answers.session).toContain('"password":"session"')
    expect(answers.seen).not.toContain(canary)
    await shell.page.reload()
    await eventually(() =>
      shell.page.evaluate(() => document.querySelector('#app')?.childElementCount ?? 0)
    ).toBeGreaterThan(0)
    expect(await textOf(shell.page)).not.toContain(canary)
    const main = shell.app.process()
    await shell.app.close()
    await eventually(() => main.exitCode !== null || main.signalCode !== null).toBe(true)
    expect(shell.output()).not.toContain(canary)
    expect(filesWithCanary(shell.dataDir)).toEqual([])
    expect(readdirSync(shell.dataDir)).toContain('connections.json')
  })

  it('would be found by this search if it were there', () => {
    for (const text of [
      password,
      Buffer.from(password).toString('base64'),
      Buffer.from(`xx${password}`).toString('base64')
    ])
      expect(spellings().some((spelling) => Buffer.from(text).includes(spelling))).toBe(true)
    expect(spellings().some((spelling) => Buffer.from(password, 'utf16le').includes(spelling))).toBe(true)
  })
})
