import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { makeImport } from '../../resources/demo/make-import.mjs'
import { ordersWorkbook } from '../../src-main/queue/pool/built-in/xlsx/orders.fixture.ts'
import { createTestDatabase } from '../support/mariadb.ts'

/*
 * A service in an empty folder, with nothing but the packed package and the packages that it depends on. Those are links to the
 * project's own, so that the test needs no network; Electron is not among them.
 */

const root = join(import.meta.dirname, '../..')
const modules = join(root, 'node_modules')
/** Packing builds, and the compiler reads the declarations of Node and zod. */
const packMs = 180_000
/** Before the test gives up: nothing of it may go on. */
const serviceMs = 55_000
let folder: string

interface Ended {
  readonly code: number | null
  readonly output: string
}

function run(command: string, args: readonly string[], cwd: string, timeout = packMs): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout,
      killSignal: 'SIGKILL'
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** As a test of npm's own runs it: with the npm that runs the tests, or the one on PATH. */
function npm(args: readonly string[], cwd: string): Promise<Ended> {
  const cli = process.env['npm_execpath']
  return cli && /npm-cli\.c?js$/.test(cli) ? run(process.execPath, [cli, ...args], cwd) : run('npm', args, cwd)
}

const linkPackage = (name: string): void => {
  const link = join(folder, 'node_modules', name)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(join(modules, name), link)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'taskdeck-service-'))
  const packed = await npm(['pack', '--pack-destination', folder, '--json'], root)
  expect(packed.code, packed.output).toBe(0)
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  const installed = join(folder, 'node_modules/taskdeck')
  mkdirSync(installed, { recursive: true })
  const archive = join(folder, `taskdeck-${version}.tgz`)
  const unpacked = await run('tar', ['-xzf', archive, '--strip-components=1', '-C', installed], folder)
  expect(unpacked.code, unpacked.output).toBe(0)
  for (const name of [...Object.keys(dependencies), '@types/node']) linkPackage(name)
  cpSync(join(import.meta.dirname, 'package-service'), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'service', private: true, type: 'module' }))
}, packMs)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function serve(address: string): Promise<Record<string, unknown>> {
  const { code, output } = await run(process.execPath, ['service.ts', address], folder, serviceMs)
  expect(code, output).toBe(0)
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}

const expected = {
  first: { created: true },
  again: { created: false },
  results: [{ greeting: 'Hello Ada' }, { greeting: 'Hello BobHello Bob' }, { greeting: 'Hello Cleo' }],
  refusals: {
    beforeTables: 'SCHEMA_MISSING',
    conflict: 'KEY_CONFLICT',
    payload: 'INVALID_PAYLOAD',
    type: 'INVALID_INPUT',
    address: 'INVALID_INPUT',
    folder: 'INVALID_INPUT',
    noHandlers: 'HANDLER_LOAD_FAILED',
    field: 'INVALID_INPUT',
    option: 'INVALID_INPUT',
    policy: 'INVALID_INPUT',
    afterClose: 'CONNECTION_LOST',
    policiesAfterClose: 'CONNECTION_LOST'
  },
  policies: [{ scope: 'TYPE', name: 'greet', maxRunning: 2, enabled: null }],
  letters: {
    dead: [
      {
        type: 'broken',
        reason: 'FINAL',
        lastError: { code: 'BROKEN', message: 'it never works: salary=••••' },
        resolution: 'OPEN'
      }
    ],
    replayed: { changed: 1, skipped: 0 },
    discarded: { changed: 1, skipped: 0 },
    left: 0,
    resolvedBy: ['on-call', `${userInfo().username}@${hostname()}`],
    nobody: 'INVALID_INPUT',
    misspelt: 'INVALID_INPUT'
  },
  schedules: { all: [{ name: 'yearly', timeZone: 'UTC', enabled: true, problem: null }], removed: true },
  workers: { workers: [{ own: true, status: 'running' }], asked: true }
}

describe('a service with the packed package', () => {
  it('submits tasks and runs a worker on an SQLite file', async () => {
    const said = await serve(join(folder, 'queue.sqlite'))
    expect(said).toMatchObject(expected)
    expect(said['metrics']).toContain('taskdeck_tasks_succeeded_total{type="greet",outcome="success"} 3')
  })

  it('has the command that says how the queue is', async () => {
    const command = join(folder, 'node_modules/taskdeck/out/package/taskdeck.js')
    const { bin } = JSON.parse(readFileSync(join(folder, 'node_modules/taskdeck/package.json'), 'utf8')) as {
      bin: Record<string, string>
    }
    expect(join(folder, 'node_modules/taskdeck', bin['taskdeck'] ?? '')).toBe(command)
    const args = [command, 'status', '--url', `sqlite:${join(folder, 'queue.sqlite')}`, '--json']
    const { code, output } = await run(process.execPath, args, folder, serviceMs)
    expect(code, output).toBe(0)
    expect(JSON.parse(output)).toMatchObject({ verdict: 'well', source: 'database', figures: { depth: 0 } })
    expect(await run(process.execPath, [command, 'sing'], folder, serviceMs)).toMatchObject({ code: 2 })
  })

  it('imports a workbook', async () => {
    const file = join(folder, 'orders.xlsx')
    writeFileSync(file, ordersWorkbook(makeImport(100, 2)))
    const { code, output } = await run(process.execPath, ['import-workbook.ts', file], folder, serviceMs)
    expect(code, output).toBe(0)
    const result = { total: 100, imported: 98, rejected: 2, report: 'import-errors.csv' }
    expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toEqual(result)
  })

  it('does the same on a server', async () => {
    const database = await createTestDatabase(inject('mariadbUrl'), 'package_entry')
    onTestFinished(() => database.drop())
    const said = await serve(database.url)
    expect(said).toMatchObject(expected)
    expect(said['metrics']).toContain('taskdeck_tasks_submitted_total{type="greet"} 3')
    expect(said['first']).toMatchObject({ taskId: (said['again'] as { taskId: string }).taskId })
  })

  it(
    'is checked by the compiler, handlers and payloads included',
    async () => {
      const compilerOptions = {
        module: 'nodenext',
        target: 'es2023',
        lib: ['es2024'],
        types: ['node'],
        strict: true,
        noEmit: true,
        // Our own declarations too: what a service with this setting would see.
        skipLibCheck: false,
        allowImportingTsExtensions: true
      }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'handlers'] }))
      const { code, output } = await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', '.'], folder)
      expect(output).toBe('')
      expect(code).toBe(0)
    },
    packMs
  )

  it('holds what a service needs and nothing of the app', () => {
    const installed = join(folder, 'node_modules/taskdeck')
    for (const part of ['out/package/index.js', 'migrations/mysql/0001_queue.sql', 'resources/handlers', 'docs'])
      expect(existsSync(join(installed, part)), part).toBe(true)
    for (const part of ['src-main', 'src-renderer', 'out/main', 'out/renderer', 'test'])
      expect(existsSync(join(installed, part)), part).toBe(false)
    expect(readFileSync(join(installed, 'out/package/index.js'), 'utf8')).not.toMatch(/from "(electron|@orpc|ws)/)
  })
})
