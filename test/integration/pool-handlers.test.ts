import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src-main/kernel/index.ts'
import { HandlerCatalog, type HandlerCatalogReading } from '../../src-main/queue/pool/index.ts'
import { startWorker, temporaryDir } from './pool-support/start-worker.ts'

const exampleHandlers = join(import.meta.dirname, '../../resources/handlers')

const handler = (type: string, result: string, more = ''): string => `
import { defineHandler } from 'taskdeck'
import { z } from 'zod'
${more}
export default defineHandler({
  type: '${type}', description: 'd', payload: z.object({}), example: {}, execute: () => ${result}
})`

it('lists what loads and why the rest does not, and the good files work', async () => {
  const dir = temporaryDir()
  writeFileSync(join(dir, 'good.ts'), handler('good', '1 as number'))
  writeFileSync(join(dir, 'syntax.ts'), 'export const = 5')
  writeFileSync(join(dir, 'throws.js'), 'throw new Error("at load")')
  writeFileSync(join(dir, 'exits.js'), 'process.exit(4)')
  writeFileSync(join(dir, 'empty.js'), 'export const nothing = 1')
  writeFileSync(join(dir, 'steals.js'), handler('sleep', '2'))
  writeFileSync(join(dir, 'zz-last.js'), handler('last', '3'))
  const { worker, store } = await startWorker({ handlers: { builtIn: true, dir } })
  const { handlers, problems } = worker.status().handlers
  expect(handlers.map(({ type }) => type)).toEqual([
    'cpu',
    'flaky',
    'good',
    'http-request',
    'import-csv',
    'import-xlsx',
    'last',
    'sleep'
  ])
  const reasons = Object.fromEntries(problems.map(({ file, error }) => [file.slice(dir.length + 1), error.message]))
  expect(reasons).toMatchObject({
    'syntax.ts': expect.stringMatching(/./) as string,
    'throws.js': 'at load',
    'exits.js': expect.stringContaining('exit code 4') as string,
    'empty.js': expect.stringContaining('exports no handler') as string,
    'steals.js': expect.stringContaining('defined by Taskdeck already') as string
  })
  expect(problems.every(({ error }) => error.code === 'HANDLER_LOAD_FAILED')).toBe(true)
  const [good = '', last = ''] = store.submit({ type: 'good', payload: '{}' }, { type: 'last', payload: '{}' })
  await Promise.all([store.untilState(good, 'SUCCESS'), store.untilState(last, 'SUCCESS')])
})

it('takes a changed file, also one that a handler imports, without a restart', async () => {
  const dir = temporaryDir()
  mkdirSync(join(dir, 'shared'))
  const shared = join(dir, 'shared', 'value.ts')
  writeFileSync(shared, `export const value: string = 'old'`)
  writeFileSync(join(dir, 'main.ts'), handler('main', 'value', `import { value } from './shared/value.ts'`))
  const { store, worker } = await startWorker({ handlers: { builtIn: false, dir } })
  const run = async (type: string): Promise<string | null | undefined> => {
    const [id = ''] = store.submit({ type, payload: '{}' })
    await store.untilState(id, 'SUCCESS')
    const [settlement] = store.row(id).settlements
    return settlement && 'result' in settlement ? settlement.result : undefined
  }
  expect(await run('main')).toBe('"old"')
  const before = worker.status().handlers
  // A look at the folder must not meet half a file.
  const replace = (file: string, text: string): void => {
    writeFileSync(join(dir, 'new'), text)
    renameSync(join(dir, 'new'), file)
  }
  replace(shared, `export const value: string = 'new value'`)
  replace(join(dir, 'second.js'), handler('second', '2'))
  await store.until(() => worker.status().handlers !== before)
  expect(await run('main')).toBe('"new value"')
  expect(await run('second')).toBe('2')
})

it('says so when the folder is not there, and describes the examples that we ship', async () => {
  const seen: HandlerCatalogReading[] = []
  const cacheDir = join(temporaryDir(), 'cache')
  const open = (dir: string): HandlerCatalog =>
    new HandlerCatalog({
      source: { builtIn: false, dir },
      cacheDir,
      clock: systemClock,
      onChange: (reading) => seen.push(reading)
    })
  const gone = join(temporaryDir(), 'gone')
  rmSync(gone, { recursive: true, force: true })
  for (const dir of [gone, exampleHandlers]) {
    const catalog = open(dir)
    await catalog.start()
    await catalog.stop()
  }
  expect(seen[0]).toMatchObject({ handlers: [], problems: [{ error: { code: 'HANDLER_LOAD_FAILED' } }] })
  expect(seen[1]?.problems).toEqual([])
  const types = ['book-payment', 'call-webhook', 'count-words', 'import-readings', 'send-receipt']
  expect(seen[1]?.handlers.map(({ type }) => type)).toEqual(types)
  expect(seen[1]?.handlers[4]?.payloadSchema).toMatchObject({
    type: 'object',
    properties: { email: { format: 'email' } }
  })
})
