import { createHash } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import type { ContractRouterClient } from '@orpc/contract'
import { createApp, type AppOptions, type TaskdeckApp } from '../../src-main/app/index.ts'
import type { AppEvent, ConnectionView, Contract } from '../../src-main/contract/index.ts'
import { systemClock } from '../../src-main/kernel/index.ts'

const root = join(import.meta.dirname, '../..')

export type PageClient = ContractRouterClient<Contract>

/** The app without a shell, and a page on it: calls go over a wire, answers and events are checked against the contract. */
export interface AppUnderTest {
  readonly app: TaskdeckApp
  readonly client: PageClient
  readonly dataDir: string
  /** The first event from now on, or of what is known, that fits. */
  readonly event: <T extends AppEvent['kind']>(
    kind: T,
    fits?: (event: Extract<AppEvent, { kind: T }>) => boolean
  ) => Promise<Extract<AppEvent, { kind: T }>>
  /** The connection's view once its link fits. */
  readonly link: (connectionId: string, fits: (view: ConnectionView) => boolean) => Promise<ConnectionView>
}

export const newDataDir = (): string => join(mkdtempSync(join(tmpdir(), 'taskdeck-app-')), 'data')

export async function startApp(options: Partial<AppOptions> = {}): Promise<AppUnderTest> {
  const dataDir = options.dataDir ?? newDataDir()
  const app = await createApp({
    dataDir,
    shell: 'server',
    version: '0.0.0-test',
    clock: systemClock,
    vault: null,
    hostName: hostname(),
    resourcesDir: join(root, 'resources'),
    migrationsDir: join(root, 'migrations'),
    validateOutputs: true,
    ...options
  })
  const client = openPage(app)

  const event: AppUnderTest['event'] = async (kind, fits = () => true) => {
    const stop = new AbortController()
    try {
      for await (const one of await client.app.events(undefined, { signal: stop.signal })) {
        if (one.kind !== kind) continue
        const found = one as Extract<AppEvent, { kind: typeof kind }>
        if (fits(found)) return found
      }
    } finally {
      stop.abort()
    }
    throw new Error(`the events ended without ${kind}`)
  }
  const link: AppUnderTest['link'] = async (connectionId, fits) => {
    let view: ConnectionView | undefined
    await event('connections', ({ connections }) => {
      view = connections.find(({ id }) => id === connectionId)
      return view !== undefined && fits(view)
    })
    if (!view) throw new Error('no view')
    return view
  }
  return { app, client, dataDir, event, link }
}

export function openPage(app: TaskdeckApp): PageClient {
  const { port1, port2 } = new MessageChannel()
  const session = app.servePage({
    send: (message) => Promise.resolve(port2.postMessage(message)),
    close: () => port2.close()
  })
  port2.on('message', (message) => session.receive(message))
  // The page must not keep the process alive after a test.
  port1.unref()
  port2.unref()
  return createORPCClient(new RPCLink({ port: port1 }))
}

/** Creates the tables as a user does: reads the plan, then says that it is this one. */
export async function migrate(client: PageClient, connectionId: string): Promise<ConnectionView> {
  const plan = await client.connections.schemaPlan({ connectionId })
  const planHash = createHash('sha256')
    .update(plan.map(({ sql }) => sql).join('\n'))
    .digest('hex')
  return client.connections.migrate({ connectionId, planHash })
}
