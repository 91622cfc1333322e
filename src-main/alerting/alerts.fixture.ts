import { join, resolve } from 'node:path'
import type { AlertRule, AlertRuleDraft, AppError, Clock, Incident, MetricName, Point } from '../kernel/index.ts'
import { openAlerts, type AlertRuleView, type Alerts, type IncidentMessage } from './index.ts'

/** A Monday; readings of tests begin here. */
export const monday = 1_767_600_000_000

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Time that moves only when a test says so; wall time can also jump. */
export class TestClock implements Clock {
  private wall = monday
  private running = 0
  private readonly sleepers = new Set<Sleeper>()

  now(): number {
    return this.wall
  }

  monotonic(): number {
    return this.running
  }

  random(): number {
    return 0.5
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((wake, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const sleeper = { at: this.running + ms, wake }
      this.sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        this.sleepers.delete(sleeper)
        reject(signal.reason as Error)
      })
    })
  }

  jump(ms: number): void {
    this.wall += ms
  }

  /** Wakes who is due, in order, and lets each act before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.running + ms
    for (;;) {
      await new Promise((done) => setImmediate(done))
      const next = [...this.sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      this.pass(Math.max(0, (next?.at ?? end) - this.running))
      if (!next) return
      this.sleepers.delete(next)
      next.wake()
    }
  }

  /** Time passes and nobody gets to act, as between two ticks. */
  pass(ms: number): void {
    this.running += ms
    this.wall += ms
  }
}

export const tickMs = 2_000

export const points = (values: Partial<Record<MetricName, number>>, type = ''): Point[] =>
  Object.entries(values).map(([metric, value]) => ({ metric: metric as MetricName, type, value }))

/** Oldest waiting above 100 for 10 s; clear at 50 for 6 s. */
export const oldestRule: AlertRuleDraft = {
  signal: 'oldestMs',
  type: '',
  above: 100,
  clearAt: 50,
  forMs: 10_000,
  clearForMs: 6_000,
  repeatMs: 60_000,
  enabled: true
}

/** The same of pool use, above 0.9, clear at 0.5. */
export const poolRule: AlertRuleDraft = { ...oldestRule, signal: 'poolUse', above: 0.9, clearAt: 0.5 }

/** What both rules see when all is well, and when the first is above. */
export const low = { oldestMs: 10, poolUse: 0 }
export const high = { oldestMs: 200, poolUse: 0 }

/** Alerts with all that they said; in memory, unless a folder is given. */
export class AlertBench {
  readonly clock = new TestClock()
  readonly file: string
  readonly messages: IncidentMessage[] = []
  readonly changes: string[] = []
  readonly notices: AppError[] = []
  notice: AppError | undefined
  alerts: Alerts

  constructor(dir?: string) {
    this.file = dir === undefined ? ':memory:' : join(dir, 'alerts.sqlite')
    this.alerts = this.open()
  }

  /** As an app that starts. */
  open(): Alerts {
    const { alerts, notice } = openAlerts({
      ...{ file: this.file, clock: this.clock },
      migrationsDir: resolve(import.meta.dirname, '../../migrations/cache'),
      onNotice: (failure) => this.notices.push(failure),
      onChange: (connectionId) => this.changes.push(connectionId),
      onMessage: (message) => this.messages.push(message)
    })
    this.notice = notice
    this.alerts = alerts
    return alerts
  }

  async reopen(): Promise<void> {
    await this.alerts.stop()
    this.open()
  }

  /** No default rule disturbs: each is switched off. */
  withoutDefaults(connectionId = 'local'): this {
    for (const { rule } of this.alerts.state(connectionId).rules)
      this.alerts.saveRule(connectionId, rule.id, { ...rule, enabled: false })
    return this
  }

  /** One reading after each tick, `ms` long. */
  read(values: Partial<Record<MetricName, number>>, ms = tickMs, connectionId = 'local'): void {
    for (let passed = 0; passed < ms; passed += tickMs) {
      this.clock.pass(tickMs)
      this.alerts.observe({ connectionId, at: this.clock.now(), points: points(values) })
    }
  }

  addRule(changes: Partial<AlertRuleDraft> = {}): AlertRule {
    return this.alerts.saveRule('local', null, { ...oldestRule, ...changes })
  }

  viewOf(ruleId: string): AlertRuleView {
    const view = this.alerts.state('local').rules.find(({ rule }) => rule.id === ruleId)
    if (!view) throw new Error('no such rule')
    return view
  }

  /** The one that is open. */
  openIncident(): Incident {
    const { open } = this.alerts.state('local')
    const [incident] = open
    if (!incident || open.length > 1) throw new Error(`${open.length} are open`)
    return incident
  }

  told(): string[] {
    return this.messages.map(({ what, firings }) => `${what} ${firings.map(({ signal }) => signal).join('+')}`)
  }

  async end(): Promise<void> {
    await this.alerts.stop()
  }
}
