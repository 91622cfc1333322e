import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../kernel/index.ts'
import { openAudit } from './index.ts'
import type { Audit, Intent } from './index.ts'

const migrationsDir = resolve(import.meta.dirname, '../../migrations/cache')
const clock = { ...systemClock, now: () => 1_767_614_400_000 }
let dir: string
let file: string
let opened: Audit[]

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-audit-'))
  file = join(dir, 'audit.sqlite')
  opened = []
})
afterEach(async () => {
  for (const audit of opened) await audit.close()
  rmSync(dir, { recursive: true, force: true })
})

function open(): ReturnType<typeof openAudit> {
  const result = openAudit({ file, clock, migrationsDir })
  opened.push(result.audit)
  return result
}

const intent = (requestId: string, more: Partial<Intent> = {}): Intent => ({
  actor: 'ada',
  connectionId: 'local',
  action: 'retry',
  target: '42',
  count: 1,
  requestId,
  reason: '',
  ...more
})

async function newIntent(audit: Audit, requestId: string): Promise<string> {
  const result = await audit.intent(intent(requestId))
  if (result.status !== 'new') throw new Error('it was there before')
  return result.id
}

describe('audit', () => {
  it('keeps intent and outcome over a restart, newest first, page by page', async () => {
    const first = open().audit
    for (const n of [1, 2, 3]) await first.outcome(await newIntent(first, `request-${n}`), `{"n":${n}}`)
    await first.close()
    const { audit, notice } = open()
    expect(notice).toBeUndefined()
    const page = await audit.list(2)
    expect(page.map(({ requestId, outcome }) => [requestId, outcome])).toEqual([
      ['request-3', '{"n":3}'],
      ['request-2', '{"n":2}']
    ])
    expect(page[0]).toMatchObject({ ...intent('request-3'), at: clock.now(), outcomeAt: clock.now() })
    expect((await audit.list(2, page[1]?.id)).map(({ requestId }) => requestId)).toEqual(['request-1'])
  })

  it('answers a repeated request with the first entry and writes nothing', async () => {
    const { audit } = open()
    await audit.outcome(await newIntent(audit, 'same'), '{"to":"QUEUED"}')
    const again = await audit.intent(intent('same', { target: '43' }))
    expect(again).toMatchObject({ status: 'repeated', entry: { target: '42', outcome: '{"to":"QUEUED"}' } })
    expect(await audit.list(10)).toHaveLength(1)
  })

  it('names the intents that have no outcome', async () => {
    const { audit } = open()
    await newIntent(audit, 'lost')
    await audit.outcome(await newIntent(audit, 'done'), '{}')
    expect((await audit.unsettled(10)).map(({ requestId }) => requestId)).toEqual(['lost'])
    expect(await audit.findRequest('lost')).toMatchObject({ outcome: null })
    expect(await audit.findRequest('never')).toBeUndefined()
  })

  it('keeps the first outcome and lets no row be changed or deleted', async () => {
    const { audit } = open()
    const id = await newIntent(audit, 'one')
    await audit.outcome(id, '{"first":true}')
    await audit.outcome(id, '{"first":false}')
    expect((await audit.list(1))[0]?.outcome).toBe('{"first":true}')
    const db = new Database(file)
    const statements = ['intent', 'outcome'].flatMap((t) => [`DELETE FROM ${t}`, `UPDATE ${t} SET at = 0`])
    for (const sql of statements) expect(() => db.exec(sql)).toThrow('append-only')
    db.close()
  })

  it('keeps its file, and what SQLite puts beside it, from other users', async () => {
    await open().audit.close()
    chmodSync(file, 0o644)
    await newIntent(open().audit, 'one')
    const modes = readdirSync(dir).map((name) => [name, statSync(join(dir, name)).mode & 0o777])
    expect(modes).toEqual([
      ['audit.sqlite', 0o600],
      ['audit.sqlite-shm', 0o600],
      ['audit.sqlite-wal', 0o600]
    ])
  })

  it('is shared by two instances: one request counts once', async () => {
    const [one, two] = [open().audit, open().audit]
    const results = await Promise.all([one.intent(intent('both')), two.intent(intent('both'))])
    expect(results.map(({ status }) => status).sort()).toEqual(['new', 'repeated'])
  })
})

describe('an audit file that cannot be used', () => {
  const newer = (): void => {
    const db = new Database(file)
    db.pragma('user_version = 99')
    db.close()
  }
  const foreign = (): void => {
    rmSync(file)
    const db = new Database(file)
    db.exec('CREATE TABLE song (title TEXT)')
    db.close()
  }
  const zeroHeader = (): void => {
    const content = readFileSync(file)
    content.fill(0, 0, 100)
    writeFileSync(file, content)
  }
  const garbage = (): void => {
    const content = readFileSync(file)
    content.fill(0xa5, 4096)
    writeFileSync(file, content)
  }
  const makeFile = async (): Promise<void> => {
    const { audit } = open()
    await audit.outcome(await newIntent(audit, 'before'), '{}')
    await audit.close()
  }

  it.each([
    ['with a zeroed header', zeroHeader],
    ['with garbage pages', garbage],
    ['cut off', () => truncateSync(file, 5000)],
    ['cut off to nothing', () => truncateSync(file, 0)],
    ['that is a text', () => writeFileSync(file, 'no database '.repeat(500))]
  ])('%s is kept aside, a new one is begun, and it is said', async (_name, damage) => {
    await makeFile()
    damage()
    const before = readFileSync(file)
    const { audit, notice } = open()
    expect(notice).toMatchObject({ code: 'AUDIT_DAMAGED' })
    const aside = String(notice?.details['aside'])
    expect(readFileSync(aside)).toEqual(before)
    await newIntent(audit, 'after')
    expect(await audit.list(10)).toHaveLength(1)
  })

  it.each([
    ['of a newer version', newer],
    ['of another program', foreign]
  ])('%s is left as it is, and every action is refused', async (_name, change) => {
    await makeFile()
    change()
    const before = readFileSync(file)
    const { audit, notice } = open()
    expect(notice).toMatchObject({ code: 'AUDIT_UNAVAILABLE' })
    await expect(audit.intent(intent('after'))).rejects.toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
      kind: 'operational'
    })
    await expect(audit.list(1)).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' })
    expect(readFileSync(file)).toEqual(before)
    expect(readdirSync(dir).filter((name) => name.includes('damaged'))).toEqual([])
  })

  it('that is a pipe is not waited for, left as it is, and every action is refused', async () => {
    execFileSync('mkfifo', [file])
    const { audit, notice } = open()
    expect(notice).toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
      message: expect.stringMatching(/audit\.sqlite is not a regular file/) as string
    })
    await expect(audit.intent(intent('x'))).rejects.toBe(notice)
    expect(readdirSync(dir)).toEqual(['audit.sqlite'])
  })

  it('in a folder that is not there refuses every action', async () => {
    file = join(dir, 'none', 'audit.sqlite')
    const { audit, notice } = open()
    expect(notice).toMatchObject({ code: 'AUDIT_UNAVAILABLE' })
    await expect(audit.intent(intent('x'))).rejects.toBe(notice)
    expect(existsSync(file)).toBe(false)
  })

  it('when full refuses the intent, so that nothing is done unrecorded', async () => {
    const { audit } = open()
    await newIntent(audit, 'fits')
    limitPages(audit)
    const fill = async (): Promise<void> => {
      for (let n = 0; n < 200; n++) await audit.intent(intent(`fill-${n}`, { reason: 'x'.repeat(4000) }))
    }
    await expect(fill()).rejects.toMatchObject({ code: 'DISK_FULL', kind: 'operational' })
    expect(await audit.findRequest('fits')).toBeDefined()
  })
})

/** A full disk, as SQLite reports it: max_page_count is a setting of the handle, which only the log itself holds. */
function limitPages(audit: Audit): void {
  const { db } = audit as unknown as { db: Database.Database }
  const pages = Number(db.pragma('page_count', { simple: true }))
  db.pragma(`max_page_count = ${pages + 3}`)
}
