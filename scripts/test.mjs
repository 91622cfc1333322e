/* `npm test`: sets up what the checks need, runs every check and ends with one line `N passed, N failed`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { electronForTests } from './electron-for-tests.mjs'
import {
  SetupError,
  ensureBuild,
  ensureDependencies,
  run,
  runCommand,
  say,
  toolEnv,
  toolNode,
  toolScript
} from './setup.mjs'
import { ensureSystemPackages, neededPackages } from './system-packages.mjs'

const minuteMs = 60_000

/** Checks of the text may have to wait for the processor for long. */
const whenIdle = { background: true, deadlineMs: 15 * minuteMs }

/*
 * In the order of the report. `packages`: groups of system-packages.mjs. Those of the text alone run in the background, one by one; the others,
 * which wait for much of their time, one after the other before them. Each can be asked for by itself.
 */
const checks = [
  { name: 'build', run: async () => (await ensureBuild(), { passed: 1 }) },
  { name: 'format', background: true, run: () => tool('prettier', ['--check', '.', '--log-level', 'warn']) },
  { name: 'lint', background: true, run: () => tool('eslint', ['.', '--max-warnings', '0']) },
  { name: 'layers', background: true, run: () => node(['scripts/layers.mjs']) },
  { name: 'types', background: true, run: () => tool('vue-tsc', ['--build']) },
  { name: 'unit', run: () => vitest(['--project', 'main', '--project', 'renderer']) },
  { name: 'databases', packages: ['mariadb', 'clocks'], run: () => vitest(['--project', 'databases']) },
  { name: 'e2e', packages: ['mariadb', 'compiler', 'browsers'], run: endToEnd }
]
const names = checks.map((check) => check.name)
const usage = `Usage: npm test -- [--only ${names.join(',')}] [--verbose]
  --only     these checks only, separated by commas
  --verbose  show the output of checks while they run; otherwise that of failed ones`

let options

await runCommand(async () => {
  options = parse(process.argv.slice(2))
  if (options.help) {
    console.log(usage)
    return 0
  }
  try {
    return await testAll(checks.filter((check) => options.only.includes(check.name)))
  } catch (error) {
    if (error instanceof SetupError) {
      say(`${error.output}\ntaskdeck: ${error.message}`)
      return summary(0, 1)
    }
    throw error
  }
})

async function testAll(chosen) {
  const groups = [...new Set(chosen.flatMap((check) => check.packages ?? []))]
  const packages = neededPackages(groups) // what only somebody else can install is said before anything is fetched
  await allToTheirEnd([ensureSystemPackages(groups, packages), ensureDependencies()])
  if (chosen.some((check) => check.name === 'e2e')) electronForTests().catch(() => {}) // meanwhile; the check itself reports it
  const results = new Map()
  const performAll = async (some) => {
    for (const check of some) results.set(check, await perform(check))
  }
  const behind = chosen.filter(({ background }) => background)
  const before = chosen.filter(({ background }) => !background)
  await allToTheirEnd([performAll(before), performAll(behind)])

  say('')
  let passed = 0
  let failed = 0
  for (const check of chosen) {
    const result = results.get(check)
    passed += result.passed
    failed += result.failed
    say(`${check.name.padEnd(10)} ${result.failed ? 'FAILED' : 'passed'}  ${result.text}`)
  }
  return summary(passed, failed)
}

/** Throws the first failure, once all have ended: what the others started would outlive this process. */
async function allToTheirEnd(works) {
  for (const { reason } of await Promise.allSettled(works)) if (reason) throw reason
}

function summary(passed, failed) {
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || passed === 0 ? 1 : 0
}

async function perform(check) {
  const startedAt = Date.now()
  say(`${check.name} ...`)
  let result
  try {
    result = await check.run()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    result = { failed: 1, output: `${error.output}\n${error.message}` }
  }
  const { passed = 0, failed = 0, output = '' } = result
  if (failed > 0 && !options.verbose) say(`---- ${check.name}\n${output.trim()}\n----`)
  const seconds = `${((Date.now() - startedAt) / 1000).toFixed(1)} s`
  const text = passed + failed > 1 ? `${seconds}, ${passed} passed, ${failed} failed` : seconds
  say(`${check.name}: ${failed ? 'FAILED' : 'passed'} (${text})`)
  return { passed, failed, text }
}

function step(command, args, { env = {}, ...more }) {
  return run(command, args, { env: toolEnv(env), show: options.verbose, ...more })
}

/** One check that passes when its command does. */
async function node(args) {
  const { code, output } = await step(toolNode(), args, whenIdle)
  return code === 0 ? { passed: 1, output } : { failed: 1, output }
}

function tool(name, args) {
  return node([toolScript(name), ...args])
}

/** Counts come from vitest's own report: a run without a test, or that ends badly in another way, is a failure. */
async function vitest(args, { before = [], deadlineMs = 10 * minuteMs, ...more } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'taskdeck-test-'))
  const report = join(dir, 'report.json')
  try {
    const line = [...before, toolNode(), toolScript('vitest'), 'run', ...args]
    line.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`)
    const { code, output, leftBehind } = await step(line[0], line.slice(1), { deadlineMs, ...more })
    const counts = count(code, report)
    if (leftBehind) counts.failed += 1
    return { ...counts, output: [output.trim(), counts.note].filter(Boolean).join('\n') }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function count(code, reportFile) {
  let report
  try {
    report = JSON.parse(readFileSync(reportFile, 'utf8'))
  } catch {
    return { failed: 1, note: 'vitest wrote no report.' }
  }
  const passed = report.numPassedTests
  // A file that does not load has no tests to count; a skipped test is one that nobody ran.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')
  ).length
  const notRun = report.numTotalTests - passed - report.numFailedTests
  const failed = report.numFailedTests + notRun + brokenFiles
  if (failed === 0 && report.numTotalTests === 0) return { passed, failed: 1, note: 'No test was run.' }
  if (failed === 0 && code !== 0) return { passed, failed: 1, note: `All tests passed, but vitest ended with ${code}.` }
  return { passed, failed, note: notRun > 0 ? `${notRun} skipped tests count as failed.` : '' }
}

async function endToEnd() {
  await ensureBuild()
  const env = await electronForTests()
  const before = process.platform === 'linux' ? ['xvfb-run', '-a'] : []
  return vitest(['--config', 'vitest.e2e.config.ts'], { before, env })
}

function parse(args) {
  const refuse = (text) => {
    throw new SetupError(`${text}\n${usage}`, { exitCode: 2 })
  }
  let values
  try {
    values = parseArgs({
      args,
      options: { only: { type: 'string' }, verbose: { type: 'boolean' }, help: { type: 'boolean' } }
    }).values
  } catch (error) {
    refuse(error.message)
  }
  const only = values.only?.split(',').map((name) => name.trim()) ?? names
  const unknown = only.filter((name) => !names.includes(name))
  if (unknown.length > 0) refuse(`There is no check "${unknown.join('", "')}".`)
  return { only, verbose: values.verbose ?? false, help: values.help ?? false }
}
