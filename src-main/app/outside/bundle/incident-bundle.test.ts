import { describe, expect, it } from 'vitest'
import type { Incident } from '../../../kernel/index.ts'
import { emptyReading, liveWorker } from '../../../kernel/reading.fixture.ts'
import { connectionView } from '../outside.fixture.ts'
import { reportOfSeen } from '../status-report.ts'
import type { BundleSources } from './bundle-data.ts'
import { incidentBundle } from './incident-bundle.ts'
import { Redaction } from './redaction.ts'
import { unzip } from './unzip.fixture.ts'

/** Part of every secret here. */
const canary = 'cnry7f3a9c11d2'
const names = ['db7.internal.example', 'watcher', 'orders_live', 'worker-host-3', 'anna', '10.9.8.7']

const reading = emptyReading({
  at: 1_000_000,
  depth: [{ type: 'mail', state: 'QUEUED', count: 50_000, accuracy: 'atLeast' }],
  workers: [
    liveWorker({ id: 'worker-host-3-17-x', host: 'worker-host-3', fault: `password=${canary} at worker-host-3` })
  ],
  limits: [{ probe: 'ended', reason: 'timeout', index: 'CREATE INDEX i ON t (c)' }]
})
const incident: Incident = {
  id: 'i1',
  connectionId: 'orders',
  openedAt: 950_000,
  resolvedAt: null,
  acknowledged: { at: 960_000, by: 'anna', note: `restarted worker-host-3 with token=${canary}` },
  firings: [
    {
      ...{ id: 'f', ruleId: 'r', signal: 'oldestMs', type: '', above: 300_000, since: 940_000, firedAt: 950_000 },
      ...{ resolvedAt: null, peak: 725_000, value: 600_000, silenced: false }
    }
  ]
}
const view = connectionView({ name: 'Orders' })

const sources: BundleSources = {
  madeAt: 1_100_000,
  window: { from: 900_000, to: 1_000_000 },
  skewMs: -12,
  versions: { taskdeck: '1.2.3', shell: 'server', node: '24', platform: 'linux x64', schema: 1 },
  view,
  status: reportOfSeen(
    {
      view: connectionView({
        link: {
          ...{ status: 'lost', since: 1, nextTryAt: 2, failures: 1 },
          problem: {
            code: 'LOGIN_REFUSED',
            kind: 'user',
            message: `Access denied for 'watcher'@'10.9.8.7' (password: ${canary})`,
            details: {}
          }
        }
      }),
      ...{ tick: undefined, ageMs: null, alerts: undefined }
    },
    '1.2.3',
    () => []
  ),
  snapshot: {
    ...{ connectionId: 'orders', seq: 1, from: 900_000, to: 1_000_000, stepMs: 50_000, times: [900_000, 950_000] },
    series: [
      { metric: 'depth', type: '', values: [10, 50_000] },
      { metric: 'depth', type: 'mail', values: [null, 7] }
    ],
    reading
  },
  incidents: [incident],
  changes: [{ at: 955_000, what: 'link', text: `lost: HOST_UNKNOWN: db7.internal.example (secret=${canary})` }],
  health: {
    ...{ kind: 'sqlite', at: 1, costMs: 1, version: '3.50', fileBytes: 1, walBytes: 0, pageBytes: 4_096, pages: 1 },
    ...{ freePages: 0, journalMode: 'wal' },
    plans: [
      {
        ...{
          name: 'claim',
          sql: 'SELECT id FROM taskdeck_task',
          withoutLock: false,
          verdict: 'good',
          advice: 'inOrder'
        },
        ...{ remedy: null, gap: null, steps: [{ access: 'SEARCH', key: 'taskdeck_task_claim', rows: 10, extra: '' }] }
      }
    ],
    tables: { status: 'unknown', gap: { reason: 'off', remedy: null, errno: null } },
    indexes: {
      status: 'unknown',
      gap: { reason: 'rights', remedy: "GRANT SELECT ON mysql.x TO 'watcher'@'db7.internal.example'", errno: 1142 }
    }
  },
  log: [
    `1970-01-01T00:16:00.000Z info connection orders: lost (HOST_UNKNOWN)`,
    `1970-01-01T00:16:01.000Z error [ab] SQL failed at 10.9.8.7\n    for mysql://watcher:${canary}@db7.internal.example/orders_live /home/anna/x`
  ]
}

function redaction(withNames: boolean): Redaction {
  return new Redaction({
    redact: (text) => text,
    names: {
      hosts: ['db7.internal.example', 'worker-host-3'],
      users: ['watcher', 'anna'],
      databases: ['orders_live'],
      folders: [['/home/anna', '~']]
    },
    withNames
  })
}

async function open(withNames = false, picture: Uint8Array | null = null) {
  const files = unzip(await incidentBundle({ sources, redaction: redaction(withNames), withNames, picture }))
  const text = (name: string): string => files.get(name)?.toString() ?? ''
  return { files, text, all: [...files.values()].join('\n') }
}

describe('an incident bundle', () => {
  it('has what was seen and when: report, data and log', async () => {
    const { files, text } = await open()
    expect([...files.keys()]).toEqual(['report.md', 'data.json', 'log.txt'])
    expect(JSON.parse(text('data.json'))).toMatchObject({
      format: 'taskdeck-incident-bundle',
      window: sources.window,
      skewMs: -12,
      versions: { taskdeck: '1.2.3', schema: 1 },
      connection: { name: 'Orders', environment: 'production', server: 'MariaDB 10.11.19', where: null },
      reading: { depth: reading.depth, limits: reading.limits },
      incidents: [{ openedAt: 950_000, firings: [{ signal: 'oldestMs', peak: 725_000 }] }],
      changes: [{ at: 955_000, what: 'link' }],
      database: { plans: [{ name: 'claim', steps: [{ key: 'taskdeck_task_claim' }] }] },
      series: { times: [900_000, 950_000], series: [{ values: [10, 50_000] }, { values: [null, 7] }] }
    })
    const report = text('report.md')
    expect(report).toContain('# Taskdeck incident bundle: Orders')
    expect(report).toContain('oldest waiting 12 min 5 s, threshold 5 min 0 s since 1970-01-01T00:15:40.000Z (peak)')
    expect(report).toContain('| depth | 10 | 50000 | 1970-01-01T00:15:50.000Z | 50000 |')
    expect(report).toContain('SEARCH on taskdeck\\_task\\_claim, about 10 rows')
    expect(report).toContain('no picture of the Overview')
    expect(text('log.txt')).toContain('connection orders: lost')
  })

  it('has no secret in any of its files, with and without names', async () => {
    expect((await open(false)).all).not.toContain(canary)
    expect((await open(true)).all).not.toContain(canary)
    // It would be found if it were there.
    expect(JSON.stringify(sources)).toContain(canary)
  })

  it('has no host, user, database or address, unless the user wants them', async () => {
    const { all } = await open(false)
    for (const name of names) expect(all).not.toContain(name)
    const named = await open(true)
    for (const name of names) expect(named.all).toContain(name)
    expect(JSON.parse(named.text('data.json'))).toMatchObject({
      names: 'included',
      connection: { where: { user: 'watcher' } }
    })
  })

  it('tells machines apart though it does not name them', async () => {
    const { text } = await open()
    expect(JSON.parse(text('data.json'))).toMatchObject({
      reading: { workers: [{ id: 'host-2-17-x', host: 'host-2' }] }
    })
  })

  it('has the picture as it is', async () => {
    const picture = Buffer.from('89504e470d0a1a0a', 'hex')
    const { files, text } = await open(false, picture)
    expect(files.get('overview.png')?.equals(picture)).toBe(true)
    expect(text('report.md')).toContain('overview.png')
  })

  it('is not made when it would be too large for a ticket', async () => {
    const picture = Buffer.alloc(65 * 1_048_576)
    await expect(open(false, picture)).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
  })

  it('is read as it is meant, whatever a queue is called', async () => {
    const evil = { ...sources, view: connectionView({ name: '# x\n```\n<b>' }) }
    const archive = await incidentBundle({
      sources: evil,
      redaction: redaction(false),
      withNames: false,
      picture: null
    })
    expect(unzip(archive).get('report.md')?.toString().split('\n')[0]).toBe(
      String.raw`# Taskdeck incident bundle: \# x \`\`\` \<b\>`
    )
  })
})
