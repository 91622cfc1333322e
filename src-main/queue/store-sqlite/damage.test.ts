import {
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError, systemClock, type Clock } from '../../kernel/index.ts'
import { Claims } from './claim.ts'
import { getTask } from './look.ts'
import { QueueFile } from './queue-file.ts'
import { sqliteSchema } from './schema.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { submit } from './submit.ts'
import { emptyQueue, migrationsDir, task, temporaryFile } from './test-file.fixture.ts'

const optionsOf = (file: string) => ({ file, clock: systemClock, migrationsDir })

/** A queue of some hundred pages, closed: all of it is in the file itself. */
async function filledQueue(): Promise<string> {
  const file = await emptyQueue()
  const store = await openSqliteStore(optionsOf(file))
  await store.submit(Array.from({ length: 400 }, () => task({ payload: JSON.stringify('x'.repeat(2_000)) })))
  await store.close()
  return file
}

function overwrite(file: string, position: number, bytes: Uint8Array): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, position)
  closeSync(handle)
}

const damages: { name: string; damage: (file: string) => void }[] = [
  { name: 'has a zeroed header', damage: (file) => overwrite(file, 0, new Uint8Array(100)) },
  { name: 'is a text', damage: (file) => writeFileSync(file, 'no database at all\n'.repeat(1_000)) },
  {
    name: 'was cut in half',
    damage: (file) => truncateSync(file, Math.floor(readFileSync(file).length / 8192) * 4096)
  },
  { name: 'has garbage in its pages', damage: (file) => overwrite(file, 4096 * 3, Buffer.alloc(4096 * 5, 0xa5)) },
  { name: 'has a damaged schema page', damage: (file) => overwrite(file, 100, Buffer.alloc(2_000, 0xff)) }
]

describe('a queue file', () => {
  it.each(damages)('that $name is refused as broken', async ({ damage }) => {
    const file = await filledQueue()
    damage(file)
    const error = await openSqliteStore(optionsOf(file)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'SCHEMA_BROKEN', kind: 'operational' })
    expect((error as AppError).message).toContain(file)
  })

  it('that is a folder, or lies in none, is reported as unavailable', async () => {
    const file = temporaryFile()
    mkdirSync(file)
    await expect(openSqliteStore(optionsOf(file))).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE' })
    const nowhere = optionsOf(`${temporaryFile()}/no/queue.db`)
    await expect(sqliteSchema(nowhere).migrate()).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE' })
    await expect(openSqliteStore(nowhere)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
  })

  it.each<[string, (file: string) => void]>([
    ['deleted', (file) => rmSync(file)],
    ['replaced', (file) => renameSync(`${file}.copy`, file)]
  ])(
    'that is %s while it is open answers no submission that would be lost, and serves again when it is back',
    async (_, lose) => {
      const file = await emptyQueue()
      const store = await openSqliteStore(optionsOf(file))
      onTestFinished(() => store.close())
      copyFileSync(file, `${file}.copy`)
      linkSync(file, `${file}.kept`)
      lose(file)
      await expect(store.submit([task()])).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE', kind: 'operational' })
      renameSync(`${file}.kept`, file)
      expect(await store.submit([task()])).toMatchObject([{ status: 'created' }])
    }
  )

  it('without room refuses the write, keeps what it has and goes on when there is room', async () => {
    const file = await QueueFile.open(optionsOf(await emptyQueue()))
    onTestFinished(() => file.close())
    const [first] = await submit(file, [task()])
    file.execute('PRAGMA max_page_count = 1') // SQLite takes the current size: not one page more
    const many = Array.from({ length: 500 }, () => task({ payload: JSON.stringify('x'.repeat(10_000)) }))
    await expect(submit(file, many)).rejects.toMatchObject({ code: 'DISK_FULL', kind: 'operational' })
    expect(await getTask(file, first!.taskId)).toMatchObject({ state: 'QUEUED' })
    expect(await file.read((session) => session.get('SELECT COUNT(*) AS n FROM taskdeck_task'))).toEqual({ n: 1 })
    file.execute('PRAGMA max_page_count = 1000000')
    expect(await submit(file, many)).toHaveLength(500)
  })

  it('that may only be read shows its tasks and refuses writes', async () => {
    const file = await QueueFile.open(optionsOf(await emptyQueue()))
    onTestFinished(() => file.close())
    const [first] = await submit(file, [task()])
    file.execute('PRAGMA query_only = ON')
    expect(await getTask(file, first!.taskId)).toMatchObject({ state: 'QUEUED' })
    await expect(submit(file, [task()])).rejects.toMatchObject({ code: 'SERVER_READ_ONLY' })
  })

  it('that was closed says so, and closing twice is fine', async () => {
    const store = await openSqliteStore(optionsOf(await emptyQueue()))
    await store.close()
    await store.close()
    await expect(store.read()).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
    await expect(store.submit([task()])).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  })
})

describe('a queue file that another process has locked', () => {
  /** Takes the write lock; sleeping on this clock is what lets it go. */
  function lockedBy(path: string, letGoAfterSleeps: number): { clock: Clock; slept: () => number } {
    const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
    const other = new Database(path, nativeBinding ? { nativeBinding } : {})
    onTestFinished(() => void other.close())
    other.exec('BEGIN IMMEDIATE')
    let sleeps = 0
    const sleep = (): Promise<void> => {
      if (++sleeps === letGoAfterSleeps) other.exec('ROLLBACK')
      return Promise.resolve()
    }
    // Each sleep counts as 3 s, so that a test of the deadline does not last as long as it.
    return { clock: { ...systemClock, sleep, monotonic: () => sleeps * 3_000 }, slept: () => sleeps }
  }

  it('is written as soon as it is free', async () => {
    const path = await emptyQueue()
    const { clock, slept } = lockedBy(path, 2)
    const file = await QueueFile.open({ file: path, clock })
    onTestFinished(() => file.close())
    expect(await submit(file, [task()])).toMatchObject([{ status: 'created' }])
    expect(slept()).toBe(2)
  })

  it('is given up on after the deadline, and nothing is written', async () => {
    const path = await emptyQueue()
    const { clock } = lockedBy(path, 1_000)
    const file = await QueueFile.open({ file: path, clock })
    onTestFinished(() => file.close())
    await expect(submit(file, [task()])).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', kind: 'operational' })
  })

  it('can still be read, and polled when nothing is due', async () => {
    const path = await emptyQueue()
    const { clock, slept } = lockedBy(path, 1_000)
    const file = await QueueFile.open({ file: path, clock })
    onTestFinished(() => file.close())
    expect(await new Claims(file).claim({ workerId: 'w', types: ['t'], limit: 5, leaseMs: 1_000 })).toEqual([])
    expect(await getTask(file, '1')).toBeUndefined()
    expect(slept()).toBe(0)
  })
})
