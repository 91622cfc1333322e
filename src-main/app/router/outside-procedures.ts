import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { bundleRequest, ConnectionView } from '../../contract/index.ts'
import { AppError, withDeadline, type DatabaseHealth, type Incident } from '../../kernel/index.ts'
import type { z } from 'zod'
import { foreignPlace, openWatchedFile, openWatchedServer } from '../database/open-watched.ts'
import { tablePlace } from '../../schema-profiles/index.ts'
import { incidentBundle } from '../outside/bundle/incident-bundle.ts'
import { logWindow } from '../outside/bundle/log-window.ts'
import { Redaction, type PrivateNames } from '../outside/bundle/redaction.ts'
import type { BundleSources, BundleVersions } from '../outside/bundle/bundle-data.ts'
import { isPng } from '../outside/png.ts'
import { toProblem } from '../problem.ts'
import type { Implementer } from './implementer.ts'
import type { Services } from './services.ts'

/** Times in a bundle's series. */
const bundlePoints = 720
/** For a look at the database, opening it included: a bundle is wanted most when a server is slow. */
const lookDeadlineMs = 10_000
const mostPictureBytes = 16 * 1_048_576

export function outsideProcedures(os: Implementer, services: Services) {
  return os.outside.router({
    bundle: os.outside.bundle.handler(async ({ input }) => {
      const view = services.connections.view(input.connectionId)
      const picture = input.picture === null ? null : pngOf(Buffer.from(input.picture, 'base64'))
      const sources = await collect(services, view, input)
      const names = namesOf(services, sources)
      const { withNames } = input
      const redaction = new Redaction({ redact: (text) => services.log.redact(text), names, withNames })
      const archive = await incidentBundle({ sources, redaction, withNames, picture })
      const name = `taskdeck-${slug(view.name)}-${stamp(sources.madeAt)}.zip`
      return new File([new Uint8Array(archive)], name, { type: 'application/zip' })
    }),
    picture: os.outside.picture.handler(async ({ input }) => {
      const { capturePage } = services
      if (!capturePage) throw new AppError('INVALID_INPUT', 'user', 'Only the desktop window can take its own picture.')
      const png = pngOf(await capturePage(input))
      if (png.length > mostPictureBytes)
        throw new AppError('INVALID_INPUT', 'user', 'The picture is too large: make the window smaller.')
      return new File([new Uint8Array(png)], 'overview.png', { type: 'image/png' })
    })
  })
}

type BundleInput = z.output<typeof bundleRequest>

async function collect(services: Services, view: ConnectionView, { from, to }: BundleInput): Promise<BundleSources> {
  const { clock, observations, outside, alerts } = services
  const status = outside.status(view)
  const madeAt = clock.now()
  const { readingAt, readingAgeMs } = status
  const skewMs = readingAt === null || readingAgeMs === null ? null : readingAt - (madeAt - readingAgeMs)
  const ours = { from: from - (skewMs ?? 0), to: to - (skewMs ?? 0) }
  const range = { rangeMs: to - from, endAt: to, maxPoints: bundlePoints }
  return {
    ...{ madeAt, skewMs, view, status, window: { from, to } },
    versions: await versionsOf(services, view),
    snapshot: await observations.snapshot(view.id, range),
    incidents: alerts.incidents(view.id, { from, to }),
    changes: outside.entries(view.id, ours.from, ours.to),
    health: await lookAt(services, view),
    log: await logWindow(join(dataDirOf(services), 'logs/taskdeck.log'), { ...ours, connectionId: view.id })
  }
}

async function versionsOf(
  { info, places }: Services,
  { kind, link, profile }: ConnectionView
): Promise<BundleVersions> {
  const { version, shell } = info()
  const files = await readdir(join(places.migrationsDir, kind)).catch(() => [])
  const latest = files.filter((name) => /^\d{4}_.*\.sql$/.test(name)).length
  // A link to tables of ours lives only on the newest ones.
  const live = link.status === 'live' && profile === null ? latest : null
  const schema = link.status === 'schema' ? link.version : live
  const platform = `${process.platform} ${process.arch}`
  return { taskdeck: version, shell, node: process.versions.node, platform, schema }
}

/** What could not be looked at becomes the reason. */
async function lookAt(services: Services, { id, link }: ConnectionView): Promise<DatabaseHealth | string> {
  const { clock, log } = services
  if (link.status !== 'live') return 'The database was not looked at: the link is not up.'
  const late = (): AppError => new AppError('STATEMENT_TIMEOUT', 'operational', 'The database did not answer in time.')
  const stop = new AbortController()
  try {
    return await withDeadline(clock, lookDeadlineMs, lookOnce(services, id, stop.signal), late)
  } catch (error) {
    return `The database was not looked at: ${toProblem(error, log).message}`
  } finally {
    stop.abort() // what is still under way then ends on the server
  }
}

async function lookOnce(
  { clock, connections, observations, info }: Services,
  id: string,
  signal: AbortSignal
): Promise<DatabaseHealth> {
  const options = { clock, table: foreignPlace(connections.view(id)), reading: () => observations.reading(id) }
  const login = await connections.login(id)
  const watched = login
    ? await openWatchedServer(login, options)
    : await openWatchedFile(info().localQueueFile, options)
  try {
    return await watched.look(signal)
  } finally {
    await watched.close().catch(() => undefined)
  }
}

const dataDirOf = ({ info }: Services): string => dirname(info().localQueueFile)

/** Everything that names a machine, a person or a place, of all connections: the log speaks of more than one. */
function namesOf(services: Services, { snapshot, incidents }: BundleSources): PrivateNames {
  const views = services.connections.views()
  const servers = views.flatMap(({ mysql }) => (mysql ? [mysql] : []))
  const workers = snapshot.reading?.workers ?? []
  return {
    hosts: [...servers.map(({ host }) => host), ...workers.map(({ host }) => host), services.hostName],
    users: [...servers.map(({ user }) => user), services.actor, ...incidents.flatMap(acknowledgers)],
    databases: [
      ...servers.map(({ database }) => database),
      ...views.flatMap(({ profile }) => (profile?.table ? (tablePlace({ table: profile.table }).schema ?? []) : []))
    ],
    folders: [
      [dataDirOf(services), '[data folder]'],
      [homedir(), '~']
    ]
  }
}

const acknowledgers = ({ acknowledged }: Incident): string[] => (acknowledged ? [acknowledged.by] : [])

function pngOf(bytes: Uint8Array): Uint8Array {
  if (isPng(bytes)) return bytes
  throw new AppError('INVALID_INPUT', 'user', 'The picture is no PNG.')
}

/** For a file's name on any system. */
const slug = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .toLowerCase() || 'queue'

const stamp = (at: number): string => new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
