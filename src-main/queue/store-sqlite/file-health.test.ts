import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { fileHealth, systemClock, type FileHealth } from '../../kernel/index.ts'
import { openSqliteHealth } from './file-health.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { emptyQueue, migrationsDir, task } from './test-file.fixture.ts'

async function lookAt(file: string): Promise<FileHealth> {
  const health = await openSqliteHealth({ file, clock: systemClock, type: () => 't' })
  onTestFinished(() => health.close())
  return health.look()
}

function change(file: string, sql: string): void {
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const database = new Database(file, nativeBinding ? { nativeBinding } : {})
  database.exec(sql)
  database.close()
}

it('a queue in use has its sizes, its log and plans in order', async () => {
  const file = await emptyQueue()
  const store = await openSqliteStore({ file, clock: systemClock, migrationsDir })
  onTestFinished(() => store.close())
  await store.submit(Array.from({ length: 200 }, () => task({ payload: JSON.stringify({ text: 'x'.repeat(500) }) })))
  const health = await lookAt(file)
  expect(fileHealth.safeParse(health).error).toBeUndefined()
  expect(health).toMatchObject({ kind: 'sqlite', journalMode: 'wal', pageBytes: 4096 })
  expect(health.version).toMatch(/^3\.\d+\.\d+$/)
  expect(health.walBytes).toBeGreaterThan(100_000)
  expect(health.plans.map(({ name, verdict, advice }) => [name, verdict, advice])).toEqual([
    ['claim', 'good', 'inOrder'],
    ['claimOwner', 'good', 'inOrder']
  ])
  expect(health.plans[0]?.steps).toMatchObject([{ access: 'SEARCH', key: 'taskdeck_task_claim' }])
  const tables = health.tables.status === 'known' ? health.tables.value : []
  expect(tables[0]).toMatchObject({ name: 'taskdeck_task', rows: null })
  expect(tables[0]?.dataBytes).toBeGreaterThan(100_000)
  const indexes = health.indexes.status === 'known' ? health.indexes.value : []
  const ofTasks = indexes.filter(({ table }) => table === 'taskdeck_task')
  expect(tables[0]?.indexBytes).toBe(ofTasks.reduce((sum, { bytes }) => sum + bytes, 0))
})

it('says that the claim’s index is gone', async () => {
  const file = await emptyQueue()
  change(file, 'DROP INDEX taskdeck_task_claim')
  expect((await lookAt(file)).plans[0]).toMatchObject({ verdict: 'bad', advice: 'indexMissing', steps: [] })
})

it('says that the claim would have to sort', async () => {
  const file = await emptyQueue()
  change(
    file,
    `DROP INDEX taskdeck_task_claim;
     CREATE INDEX taskdeck_task_claim ON taskdeck_task (type, priority) WHERE state IN ('QUEUED', 'RETRY_WAIT')`
  )
  expect((await lookAt(file)).plans[0]).toMatchObject({ verdict: 'bad', advice: 'sorts' })
})

it('changes nothing in the file', async () => {
  const file = await emptyQueue()
  change(file, 'PRAGMA journal_mode = DELETE')
  expect((await lookAt(file)).journalMode).toBe('delete')
})
