import type { AppInfo, ConnectionView, LinkState, LocalWorkerView, Problem } from '@contract'
import { clinicTypes, type QueueScene } from './demo-queue.ts'

/** What the fake app is like at its start. `?scene=NAME` on the development page picks one. */
export interface Scene {
  readonly info: AppInfo
  readonly connections: ConnectionView[]
  readonly queues: Readonly<Record<string, QueueScene>>
  readonly localWorker: LocalWorkerView
  /** `none`: nothing has fired yet and nobody but the desktop is told. */
  readonly alerts: 'some' | 'none'
}

export const refused: Problem = {
  code: 'CONNECTION_REFUSED',
  kind: 'operational',
  message: 'db-primary:3306 refused the connection.',
  details: { host: 'db-primary', port: 3306 }
}

const mysql = {
  host: 'db-primary',
  port: 3306,
  user: 'taskdeck',
  database: 'clinic_queue',
  tls: 'required',
  ca: ''
} as const

function connection(id: string, name: string, change: Partial<ConnectionView>): ConnectionView {
  return {
    id,
    name,
    kind: 'mysql',
    environment: 'production',
    accessMode: 'read-only',
    mysql: { ...mysql },
    profile: null,
    password: 'vault',
    server: 'MySQL 8.0',
    link: { status: 'connecting' },
    ...change
  }
}

function connectionsAt(now: number, main: LinkState): ConnectionView[] {
  const live: LinkState = { status: 'live', lastReadingAt: now }
  return [
    connection('local', 'this machine', {
      kind: 'sqlite',
      environment: 'local',
      accessMode: 'read-write',
      mysql: null,
      password: 'none',
      server: 'SQLite 3.50',
      link: live
    }),
    connection('clinic-main', 'clinic-main', { link: main }),
    connection('billing', 'billing', { link: live }),
    connection('clinic-staging', 'clinic-staging', { environment: 'staging', accessMode: 'read-write', link: live }),
    connection('lab-staging', 'lab-staging', {
      environment: 'staging',
      accessMode: 'read-write',
      server: 'MariaDB 10.11.19',
      link: { status: 'schema', schema: 'missing', version: 0, latest: 1 }
    }),
    connection('dev-shared', 'dev-shared', {
      environment: 'development',
      accessMode: 'read-write',
      password: 'missing',
      server: null,
      link: { status: 'locked', problem: null }
    })
  ]
}

function worker(change: Partial<LocalWorkerView> = {}): LocalWorkerView {
  return {
    status: 'stopped',
    connectionId: 'local',
    workerId: null,
    slots: 4,
    running: 0,
    handlersDir: null,
    handlers: [],
    problems: [],
    sample: null,
    problem: null,
    ...change
  }
}

export const sceneNames = ['failing', 'healthy', 'stale', 'quiet', 'no-workers', 'no-vault', 'locked'] as const
export type SceneName = (typeof sceneNames)[number]

/** `now` is when the scene starts. */
export function makeScene(name: SceneName, now: number): Scene {
  const stale = name === 'stale'
  const lostAt = now - 215_000
  const known: LinkState = stale
    ? { status: 'lost', since: lostAt, nextTryAt: now + 22_000, failures: 6, problem: refused }
    : { status: 'live', lastReadingAt: now }
  const main: LinkState = name === 'locked' ? { status: 'locked', problem: null } : known
  const base: QueueScene = {
    types: clinicTypes,
    failingSinceMs: name === 'failing' || stale ? 19 * 60_000 : null,
    workers: name === 'no-workers' ? 0 : 12,
    silent: name === 'failing' ? 1 : 0,
    gap: [44 * 60_000, 41 * 60_000],
    startedAt: now
  }
  const empty: QueueScene = { ...base, types: [], workers: 0, silent: 0, gap: null, failingSinceMs: null }
  const healthy: QueueScene = { ...base, failingSinceMs: null, silent: 0 }
  const persistent = name !== 'no-vault'
  return {
    info: {
      version: '0.1.0',
      shell: 'server',
      vault: {
        persistent,
        name: persistent ? 'GNOME Keyring' : '',
        reason: persistent ? null : 'noKeyring'
      },
      settings: { theme: 'system', language: 'system', sensitiveKeys: [] },
      notices: [],
      localQueueFile: '/home/ada/.local/share/taskdeck/queue.sqlite',
      sampleImportFile: '/opt/taskdeck/resources/demo/people.csv'
    },
    connections: connectionsAt(now, main),
    queues: {
      local: empty,
      'clinic-main': name === 'quiet' ? empty : base,
      billing: { ...healthy, types: clinicTypes.slice(1, 5) },
      'clinic-staging': { ...healthy, types: clinicTypes.slice(2) }
    },
    localWorker: worker(),
    alerts: name === 'quiet' ? 'none' : 'some'
  }
}
