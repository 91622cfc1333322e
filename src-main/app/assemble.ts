import { join } from 'node:path'
import { openAlerts } from '../alerting/index.ts'
import type { AppEvent, AppInfo, ConnectionView } from '../contract/index.ts'
import { AppError, withDeadline, type MaskText, type QueueReading, type StopStack } from '../kernel/index.ts'
import { withTypes } from '../monitoring/index.ts'
import { createOperations, type Operations } from '../operations/index.ts'
import { AfterTick } from './after-tick.ts'
import { audited, type AuditedOptions } from './alerts/audited-change.ts'
import { messageLanguage } from './alerts/message-language.ts'
import { Notifiers } from './alerts/notifiers.ts'
import { QueueAlerts } from './alerts/queue-alerts.ts'
import type { AppLog } from './app-log.ts'
import type { AppOptions } from './app-options.ts'
import { EventHub } from './event-hub.ts'
import { ConnectionChanges } from './links/connection-changes.ts'
import { Connections } from './links/connections.ts'
import type { Notices } from './notices.ts'
import { Observations } from './observations.ts'
import { openFiles, type AppFiles } from './open-files.ts'
import { Outside } from './outside/outside.ts'
import { toProblem } from './problem.ts'
import type { Services } from './router/index.ts'
import { makeSampleImport } from './sample-import.ts'
import { shippedProfiles } from './shipped-profiles.ts'
import { userName } from './user-name.ts'
import { LocalWorker } from './worker/local-worker.ts'

/** Running tasks get this long when the app ends, then they are handed back. */
const workerGraceMs = 3_500
/**
 * For leaving all databases when the app ends. One that never answers must not keep it: leases end, and servers close silent sessions, by
 * themselves.
 */
const leaveDeadlineMs = 4_500

/** What everything else is built on. */
interface Ground {
  readonly options: AppOptions
  readonly log: AppLog
  readonly notices: Notices
  readonly files: AppFiles
  readonly observations: Observations
  readonly operations: Operations
  readonly auditing: AuditedOptions
  /** By the names that are chosen now. */
  readonly maskText: MaskText
  readonly running: StopStack
}

/** The parts that know of each other. */
interface Parts {
  readonly connections: Connections
  readonly localWorker: LocalWorker
  readonly alerts: QueueAlerts
  readonly notifiers: Notifiers
  readonly outside: Outside
  readonly hub: EventHub
}

/** Opens the files, makes the parts and connects them; what is to be ended goes on `running`. */
export async function assemble(
  options: AppOptions,
  { log, notices }: { readonly log: AppLog; readonly notices: Notices },
  running: StopStack
): Promise<Services> {
  const { clock, dataDir } = options
  const files = await openFiles(options, notices, running)
  const onUnrecorded = (error: AppError): void => notices.add(error)
  const maskText: MaskText = (text) => files.settings.masking.text(text)
  log.maskWith(maskText)
  const observations = new Observations(files.history, clock)
  const operations = createOperations({ audit: files.audit, clock, maskText, onUnrecorded })
  const auditing = { audit: files.audit, actor: userName(), onUnrecorded }
  const ground = { options, log, notices, files, observations, operations, auditing, maskText, running }
  const parts = connectParts(ground)
  const places = placesOf(options)
  const { stored, secrets, settings } = files
  const { connections } = parts
  const changes = new ConnectionChanges({ clock, places, connections, log, stored, secrets })
  // A keyring that asks its user must not hold up the start.
  void parts.notifiers.announceUnreachable()
  await parts.outside.start()
  await connections.start()

  const sampleImportFile = await makeSampleImport(options, log)
  return {
    ...{ ...parts, clock, log, changes, observations, operations, settings, places, secrets },
    artifactDir: join(dataDir, 'artifacts'),
    hostName: options.hostName,
    actor: auditing.actor,
    validateOutputs: options.validateOutputs ?? false,
    publish: (event) => parts.hub.publish(event),
    audited: (change, work) => audited(auditing, change, work),
    info: () => infoOf(ground, sampleImportFile),
    profiles: () => shippedProfiles(options.resourcesDir),
    capturePage: options.capturePage ?? null
  }
}

/** Each is used by the others only once all are there. */
function connectParts(ground: Ground): Parts {
  const { options, log, notices, observations, operations, running } = ground
  const publish = (event: AppEvent): void => parts.hub.publish(event)
  const afterTick = new AfterTick({ clock: options.clock, log, operations, publish })
  const hub = new EventHub(options.clock, () => currentEvents(parts, observations))
  const parts: Parts = {
    hub,
    ...makeAlerts(ground, () => parts),
    connections: makeConnections(ground, { afterTick, parts: () => parts }),
    localWorker: makeLocalWorker(ground, () => parts),
    outside: makeOutside(ground, () => parts)
  }
  notices.publishTo(hub)
  running.add(() => parts.alerts.stop())
  running.add(() => hub.close())
  running.add(() => leaveDatabases(parts, ground))
  running.add(() => parts.outside.stop())
  return parts
}

function makeConnections(
  { options, log, files, observations }: Ground,
  { afterTick, parts }: { afterTick: AfterTick; parts: () => Parts }
): Connections {
  const { stored, secrets } = files
  return new Connections({
    ...{
      clock: options.clock,
      places: placesOf(options),
      localFile: localFileIn(options.dataDir),
      log,
      stored,
      secrets
    },
    onChange() {
      const { hub, alerts, outside, connections } = parts()
      const views = connections.views()
      alerts.follow(views)
      outside.follow(views)
      hub.publish({ kind: 'connections', connections: views })
    },
    onTick(read, { store, accessMode }) {
      const { hub, alerts, outside } = parts()
      const tick = { ...read, points: withTypes(read.reading, read.points, alerts.ruleTypes(read.connectionId)) }
      const seen = observations.take(tick)
      hub.publish({ kind: 'tick', tick: seen })
      alerts.take(tick)
      outside.take(seen)
      if (store && accessMode === 'read-write') afterTick.begin(tick.connectionId, tick.reading, store)
    },
    lastKnownAt: (id) => observations.lastKnownAt(id),
    onClosing: (id) => parts().localWorker.leave(id),
    onMoved(id) {
      parts().outside.forget(id)
      parts().alerts.moved(id)
      return observations.forget(id)
    }
  })
}

function makeLocalWorker({ options, log, observations, maskText }: Ground, parts: () => Parts): LocalWorker {
  const { clock, dataDir, version } = options
  return new LocalWorker({
    ...{ clock, places: placesOf(options), localFile: localFileIn(dataDir), log, maskText, version },
    artifactDir: join(dataDir, 'artifacts'),
    graceMs: workerGraceMs,
    publish: (event) => parts().hub.publish(event),
    login(connectionId) {
      const { connections } = parts()
      connections.requireWritable(connectionId)
      return connections.login(connectionId)
    },
    waiting: (connectionId) => waitingIn(observations.reading(connectionId))
  })
}

function makeAlerts(
  { options, log, notices, files, observations, auditing }: Ground,
  parts: () => Parts
): Pick<Parts, 'alerts' | 'notifiers'> {
  const { clock, dataDir, desktop = null } = options
  const { alerts: rules, notice } = openAlerts({
    clock,
    file: join(dataDir, 'alerts.sqlite'),
    migrationsDir: join(options.migrationsDir, 'cache'),
    onNotice: (error) => notices.add(error),
    onChange: (connectionId) => parts().alerts.tell(connectionId),
    onMessage: (message) => parts().notifiers.tell(message)
  })
  if (notice) notices.add(notice)
  const notifiers = new Notifiers({
    ...{ clock, log, desktop, secrets: files.secrets, records: rules.records },
    language: () => messageLanguage(files.settings.get().language),
    connection: (connectionId) => {
      const view = parts()
        .connections.views()
        .find((one) => one.id === connectionId)
      // No more than this leaves the machine.
      return view && { id: view.id, name: view.name, environment: view.environment }
    },
    firing: () =>
      parts()
        .connections.views()
        .flatMap(({ id }) => rules.firingNow(id)),
    onShow: (connectionId, at) => parts().hub.publish({ kind: 'show', connectionId, at }),
    onFailure: (error) => notices.add(error),
    onUnreachable: (error) => notices.add(error)
  })
  const alerts = new QueueAlerts({
    ...{ log, notifiers, observations, auditing, alerts: rules },
    publish: (event) => parts().hub.publish(event),
    hasPages: () => parts().hub.subscribers > 0
  })
  rules.start()
  return { alerts, notifiers }
}

function makeOutside({ options, log }: Ground, parts: () => Parts): Outside {
  const { clock, dataDir, version, metricsPort = null } = options
  return new Outside({
    ...{ clock, log, dataDir, version, metricsPort, platform: process.platform },
    connections: () => parts().connections.views(),
    alerts: (connectionId) => parts().alerts.state(connectionId)
  })
}

/** What a page has to know before any change makes sense. */
function currentEvents({ connections, localWorker, alerts }: Parts, observations: Observations): AppEvent[] {
  const views: ConnectionView[] = connections.views()
  return [
    { kind: 'connections', connections: views },
    { kind: 'localWorker', localWorker: localWorker.view() },
    ...observations.ticks().map((tick): AppEvent => ({ kind: 'tick', tick })),
    ...alerts.events(views.map(({ id }) => id))
  ]
}

async function leaveDatabases({ connections, localWorker }: Parts, { options, log }: Ground): Promise<void> {
  const late = (): AppError =>
    new AppError('CONNECTION_LOST', 'operational', 'A database did not answer while Taskdeck left it.')
  const left = Promise.all([connections.stop(), localWorker.stop()])
  await withDeadline(options.clock, leaveDeadlineMs, left, late).catch((error: unknown) => {
    log.write('warn', toProblem(error, log).message)
  })
}

const localFileIn = (dataDir: string): string => join(dataDir, 'queue.sqlite')

const placesOf = ({ clock, migrationsDir }: AppOptions): Services['places'] => ({ clock, migrationsDir })

const noVault: AppInfo['vault'] = { persistent: false, name: '', reason: 'browser' }

function infoOf({ options, files, notices }: Ground, sampleImportFile: string | null): AppInfo {
  const { vault, version, shell, dataDir } = options
  return {
    ...{ version, shell, sampleImportFile },
    notices: notices.all(),
    vault: vault ? { persistent: vault.persistent, name: vault.name, reason: vault.reason } : noVault,
    settings: files.settings.get(),
    localQueueFile: localFileIn(dataDir)
  }
}

function waitingIn(reading: QueueReading | undefined): number {
  const waiting = reading?.depth.filter(({ state }) => state === 'QUEUED' || state === 'RETRY_WAIT') ?? []
  return waiting.reduce((total, { count }) => total + count, 0)
}
