import type { AlertState, ConnectionView, Tick } from '../../contract/index.ts'
import { StopStack, type Clock } from '../../kernel/index.ts'
import { startMetricsServer } from '../../queue/metrics/index.ts'
import type { AppLog } from '../app-log.ts'
import { toProblem } from '../problem.ts'
import { openAppMetrics } from './app-metrics.ts'
import type { DiaryEntry } from './diary.ts'
import { judgeByDefaults } from './judge-by-defaults.ts'
import { statusPlace } from './status-place.ts'
import { reportOfSeen, type StatusReport } from './status-report.ts'
import { startStatusServer } from './status-server.ts'
import type { SeenQueue } from './seen-queue.ts'
import { Watcher } from './watcher.ts'

export interface OutsideOptions {
  readonly clock: Clock
  readonly log: AppLog
  readonly dataDir: string
  readonly version: string
  readonly platform: NodeJS.Platform
  /** 0 takes a free one; null: no metrics. */
  readonly metricsPort: number | null
  readonly connections: () => readonly ConnectionView[]
  readonly alerts: (connectionId: string) => AlertState
}

/** What the app shows outside of its page: metrics for Prometheus when it is told to, and its status for `taskdeck status`. */
export class Outside {
  private readonly options: OutsideOptions
  private readonly watcher: Watcher
  private readonly running = new StopStack()
  private url: string | null = null

  constructor(options: OutsideOptions) {
    this.options = options
    this.watcher = new Watcher(options)
  }

  /** Of the metrics; null while there are none. */
  get metricsUrl(): string | null {
    return this.url
  }

  /** Throws INVALID_INPUT when the port for metrics is taken: somebody asked for it. A socket that cannot be had is only logged. */
  async start(): Promise<void> {
    await this.startMetrics()
    await this.startStatus().catch((error: unknown) => {
      this.options.log.write('warn', toProblem(error, this.options.log).message)
    })
  }

  stop(): Promise<void> {
    return this.running.stop()
  }

  take(tick: Tick): void {
    this.watcher.take(tick)
  }

  follow(views: readonly ConnectionView[]): void {
    this.watcher.follow(views)
  }

  forget(connectionId: string): void {
    this.watcher.forget(connectionId)
  }

  /** What changed about a connection between these times of the app's clock. */
  entries(connectionId: string, from: number, to: number): DiaryEntry[] {
    return this.watcher.entries(connectionId, from, to)
  }

  status(view: ConnectionView): StatusReport {
    return this.report(this.watcher.seenOf(view))
  }

  private report(queue: SeenQueue): StatusReport {
    return reportOfSeen(queue, this.options.version, judgeByDefaults)
  }

  private async startMetrics(): Promise<void> {
    const { metricsPort, version, log } = this.options
    if (metricsPort === null) return
    const page = openAppMetrics(() => this.watcher.seen(), version)
    const server = await startMetricsServer(page, metricsPort, (line) => log.write('error', line))
    this.running.add(() => server.stop())
    this.url = server.url
    log.write('info', `metrics at ${server.url}`)
  }

  private async startStatus(): Promise<void> {
    const { dataDir, platform, log } = this.options
    const place = statusPlace(dataDir, platform)
    if (place === null)
      return log.write(
        'warn',
        'The path of the data folder is too long for a socket: `taskdeck status` looks by itself.'
      )
    const server = await startStatusServer({
      place,
      seen: () => this.watcher.seen(),
      report: (queue) => this.report(queue),
      onBug: (error) => log.bug(error)
    })
    this.running.add(() => server.stop())
  }
}
