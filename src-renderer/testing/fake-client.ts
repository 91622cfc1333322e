import { ORPCError } from '@orpc/client'
import type {
  AlertRuleDraft,
  AlertState,
  AppEvent,
  ConnectionDraft,
  ConnectionView,
  DatabaseEvent,
  LocalWorkerView,
  NewTask,
  NotifierDraft,
  OperatorAction,
  Problem,
  TaskFilter,
  TestStep,
  WorkerRequest
} from '@contract'
import type { TaskdeckClient } from '@/transport/client.ts'
import { DemoAlerts } from './demo-alerts.ts'
import { demoFile, demoServer, type DatabaseScene } from './demo-database.ts'
import { demoHandlers, demoProblems, demoWorkerLog } from './demo-handlers.ts'
import { DemoNotifiers } from './demo-notifiers.ts'
import { DemoLanes } from './demo-lanes.ts'
import { pointsAt, readingAt, snapshotOf } from './demo-queue.ts'
import { DemoRequests } from './demo-requests.ts'
import { DemoTasks } from './demo-tasks.ts'
import type { Scene } from './scenes.ts'

const demoProfile = { name: 'Laravel jobs', text: '{\n  "name": "Laravel jobs",\n  "table": "jobs"\n}' }

function profileOf(text: string | null): ConnectionView['profile'] {
  return text === null ? null : { text, ...(JSON.parse(text) as { name: string; table: string }) }
}

/** A client over an app that lives in the page: the scene's queues move, actions change what the next event says. */
export class FakeApp {
  readonly client: TaskdeckClient
  readonly calls: { path: string; input: unknown }[] = []
  /** Runs before each call: may wait for ever or throw, to see a page that waits or fails. */
  gate: (path: string) => Promise<void> | void = () => undefined
  /** Types that are gone: until when history has tasks of them. */
  readonly seenUntil = new Map<string, number>()
  /** What the database pages of servers show. */
  databaseScene: DatabaseScene = 'waiting'
  /** By connection id; those that are missing have no tasks. */
  readonly tasks: Record<string, DemoTasks> = {}
  /** By connection id. */
  readonly alerts: Record<string, DemoAlerts> = {}
  private readonly notifiers: DemoNotifiers
  private readonly requests: Record<string, DemoRequests> = {}
  private readonly lanes: Record<string, DemoLanes> = {}
  private connections: ConnectionView[]
  private worker: LocalWorkerView
  private seq = 1
  /** History ends here where the password is not known. */
  private readonly lockedAt: number
  private readonly listeners = new Set<(event: AppEvent) => void>()
  private readonly scene: Scene
  private readonly now: () => number

  constructor(scene: Scene, now: () => number = () => Date.now()) {
    this.scene = scene
    this.now = now
    this.lockedAt = now() - 215_000
    this.connections = scene.connections
    this.worker = scene.localWorker
    this.notifiers = new DemoNotifiers(scene.alerts !== 'none')
    for (const [id, queue] of Object.entries(scene.queues)) {
      const past = scene.alerts !== 'none' && queue.types.length > 0
      this.alerts[id] = new DemoAlerts(id, now, { past, trouble: queue.failingSinceMs !== null })
      this.requests[id] = new DemoRequests()
      this.lanes[id] = new DemoLanes(queue)
      this.tasks[id] = new DemoTasks(queue.types.length > 0 ? 25_000 : 0, now())
    }
    this.client = this.build()
  }

  /** Sends an event to every open stream. */
  emit(event: AppEvent): void {
    for (const listen of this.listeners) listen(event)
  }

  /** One look at every live queue, as the sampler would take it. */
  tick(): void {
    const at = this.now()
    this.seq++
    this.connections = this.connections.map((one) =>
      one.link.status === 'live' ? { ...one, link: { status: 'live', lastReadingAt: at } } : one
    )
    this.emit({ kind: 'connections', connections: this.connections })
    for (const { id, link } of this.connections) {
      const queue = this.scene.queues[id]
      if (!queue || link.status !== 'live') continue
      this.tasks[id]?.move(at, queue.types.length > 0 ? 1 : 0)
      const plain = readingAt(queue, at)
      const reading = this.requests[id]?.seenIn(plain) ?? plain
      this.emit({ kind: 'tick', tick: { connectionId: id, seq: this.seq, reading, points: pointsAt(queue, at) } })
    }
  }

  setConnection(id: string, change: Partial<ConnectionView>): ConnectionView {
    this.connections = this.connections.map((one) => (one.id === id ? { ...one, ...change } : one))
    this.emit({ kind: 'connections', connections: this.connections })
    const found = this.connections.find((one) => one.id === id)
    if (!found)
      throw problemError({ code: 'NOT_FOUND', kind: 'user', message: `There is no connection ${id}.`, details: {} })
    return found
  }

  private setWorker(change: Partial<LocalWorkerView>): LocalWorkerView {
    this.worker = { ...this.worker, ...change }
    this.emit({ kind: 'localWorker', localWorker: this.worker })
    return this.worker
  }

  private async *events(signal?: AbortSignal): AsyncGenerator<AppEvent> {
    const waiting: AppEvent[] = [
      { kind: 'connections', connections: this.connections },
      { kind: 'localWorker', localWorker: this.worker }
    ]
    let wake: () => void = () => undefined
    const listen = (event: AppEvent): void => {
      waiting.push(event)
      wake()
    }
    this.listeners.add(listen)
    signal?.addEventListener('abort', () => wake())
    try {
      while (!signal?.aborted) {
        const next = waiting.shift()
        if (next) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      this.listeners.delete(listen)
    }
  }

  /** As the app looks: at once, then every five seconds, until nobody listens. */
  private async *looks(connectionId: string, signal?: AbortSignal): AsyncGenerator<DatabaseEvent> {
    while (!signal?.aborted) {
      const at = this.now()
      const health = connectionId === 'local' ? demoFile(at) : demoServer(this.databaseScene, at)
      yield { status: 'seen', health }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 5_000)
        signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
      })
    }
  }

  private snapshot(input: {
    connectionId: string
    rangeMs: number
    maxPoints?: number
    endAt?: number | null
  }): unknown {
    const queue = this.scene.queues[input.connectionId]
    const link = this.connections.find((one) => one.id === input.connectionId)?.link
    const now = this.now()
    const newest =
      link?.status === 'lost' && link.since !== null ? link.since : link?.status === 'locked' ? this.lockedAt : now
    const until = Math.min(input.endAt ?? newest, newest)
    const question = { maxPoints: 360, ...input }
    if (queue) {
      const snapshot = snapshotOf(queue, question, this.seq, until)
      const gone = [...this.seenUntil].map(([type, end]) => ({
        ...{ metric: 'depth', type },
        values: snapshot.times.map((at) => (at <= end ? 3 : null))
      }))
      return { ...snapshot, series: [...snapshot.series, ...gone] }
    }
    return {
      ...question,
      seq: this.seq,
      from: now - input.rangeMs,
      to: now,
      stepMs: 10_000,
      times: [],
      series: [],
      reading: null
    }
  }

  private saved(draft: ConnectionDraft): ConnectionView {
    const id = draft.id ?? draft.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    const view: ConnectionView = {
      id,
      name: draft.name,
      kind: 'mysql',
      environment: draft.environment,
      accessMode: draft.accessMode,
      mysql: { port: 3306, tls: 'disabled', ca: '', ...draft.mysql },
      profile: profileOf(draft.profile ?? null),
      password: draft.keepPassword ?? 'session',
      server: null,
      link: { status: 'connecting' }
    }
    const known = this.connections.some((one) => one.id === id)
    this.connections = known ? this.connections.map((one) => (one.id === id ? view : one)) : [...this.connections, view]
    this.emit({ kind: 'connections', connections: this.connections })
    return view
  }

  private build(): TaskdeckClient {
    const stop = { status: 'stopped' as const, workerId: null, running: 0, sample: null }
    const calls = {
      app: {
        info: () => this.scene.info,
        // A copy, as over a wire.
        saveSettings: (change: object) => structuredClone({ ...this.scene.info.settings, ...change }),
        events: (_: unknown, signal?: AbortSignal) => this.events(signal)
      },
      connections: {
        list: () => this.connections,
        profiles: () => [demoProfile],
        test: (draft: ConnectionDraft, signal?: AbortSignal) => testSteps(draft, signal),
        save: (draft: ConnectionDraft) => this.saved(draft),
        remove: ({ connectionId }: { connectionId: string }) => {
          this.connections = this.connections.filter((one) => one.id !== connectionId)
          this.emit({ kind: 'connections', connections: this.connections })
        },
        unlock: ({ connectionId }: { connectionId: string }) =>
          this.setConnection(connectionId, { password: 'session', link: { status: 'connecting' } }),
        setAccessMode: ({ connectionId, accessMode }: Pick<ConnectionView, 'accessMode'> & { connectionId: string }) =>
          this.setConnection(connectionId, { accessMode }),
        schemaPlan: () => [
          {
            migration: '0001_queue',
            sql: 'CREATE TABLE task (\n  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,\n  type VARCHAR(100) NOT NULL,\n  PRIMARY KEY (id)\n)'
          },
          {
            migration: '0001_queue',
            sql: 'CREATE TABLE task_attempt (\n  task_id BIGINT UNSIGNED NOT NULL,\n  attempt INT UNSIGNED NOT NULL,\n  PRIMARY KEY (task_id, attempt)\n)'
          }
        ],
        migrate: ({ connectionId }: { connectionId: string }) =>
          this.setConnection(connectionId, { link: { status: 'live', lastReadingAt: this.now() } }),
        retryNow: () => undefined
      },
      overview: { snapshot: (input: { connectionId: string; rangeMs: number }) => this.snapshot(input) },
      tasks: this.taskCalls(),
      outside: {
        bundle: () => new File(['PK'], 'taskdeck-demo-20261130-021542.zip', { type: 'application/zip' }),
        picture: () => new Blob(['PNG'], { type: 'image/png' })
      },
      workers: {
        request: (input: { connectionId: string; workerId: string; request: WorkerRequest | null }) => {
          this.requests[input.connectionId]?.ask(input.workerId, input.request, this.now())
          return { auditId: '318' }
        },
        lanes: (input: { connectionId: string; fromMsAgo: number; limit?: number; type?: string | null }) =>
          this.lanes[input.connectionId]?.look(input, this.now()) ?? missing()
      },
      alerts: this.alertCalls(),
      database: {
        watch: ({ connectionId }: { connectionId: string }, signal?: AbortSignal) => this.looks(connectionId, signal)
      },
      localWorker: {
        get: () => this.worker,
        start: ({
          connectionId,
          slots,
          handlersDir = null
        }: Pick<LocalWorkerView, 'connectionId' | 'slots' | 'handlersDir'>) => {
          this.emit({ kind: 'workerLog', lines: demoWorkerLog(this.now()) })
          return this.setWorker({
            status: 'running',
            workerId: 'imp-03',
            connectionId,
            slots,
            running: 2,
            handlers: demoHandlers,
            problems: handlersDir ? demoProblems : [],
            handlersDir
          })
        },
        stop: () => this.setWorker(stop),
        resize: ({ slots }: { slots: number }) => this.setWorker({ slots }),
        startSample: ({ kind }: { kind: 'steady' }) => this.setWorker({ sample: kind }),
        stopSample: () => this.setWorker({ sample: null }),
        log: () => (this.worker.status === 'running' ? demoWorkerLog(this.now()) : [])
      }
    }
    return this.asClient(calls)
  }

  private taskCalls(): Record<string, unknown> {
    interface Where {
      connectionId: string
      taskId: string
    }
    const of = (id: string): DemoTasks => this.tasks[id] ?? new DemoTasks(0, 0)
    return {
      list: (input: { connectionId: string; filter: Partial<TaskFilter> }) => of(input.connectionId).list(input),
      get: ({ connectionId, taskId }: Where) =>
        of(connectionId).get(taskId, this.blockOf(connectionId), this.now()) ?? missing(),
      log: ({ connectionId, taskId, afterId = null }: Where & { afterId?: string | null }) =>
        of(connectionId).log(taskId, afterId, this.now()),
      act: ({ connectionId, taskId, action }: Where & { action: OperatorAction }) => {
        const answer = of(connectionId).act(taskId, action, this.now()) ?? illegal()
        this.emit({ kind: 'tasksChanged', connectionId, ids: [taskId] })
        return answer
      },
      artifact: () => new File(['row,reason\n17,amount is no number\n'], 'rejected-rows.csv', { type: 'text/csv' }),
      submit: ({ connectionId, task, count = 1 }: { connectionId: string; task: NewTask; count?: number }) => {
        const answer = of(connectionId).submit(task, count, this.now())
        this.emit({ kind: 'tasksChanged', connectionId, ids: [] })
        return answer
      }
    }
  }

  private alertCalls(): Record<string, unknown> {
    interface Of {
      connectionId: string
    }
    const of = ({ connectionId }: Of): DemoAlerts =>
      (this.alerts[connectionId] ??= new DemoAlerts(connectionId, this.now, { past: false, trouble: false }))
    const told = (state: AlertState): AlertState => {
      this.emit({ kind: 'alerts', alerts: state })
      return state
    }
    const all = (): DemoAlerts[] => Object.values(this.alerts)
    return {
      get: (input: Of) => of(input).state(),
      saveRule: (input: Of & { ruleId: string | null; rule: AlertRuleDraft }) =>
        told(of(input).saveRule(input.ruleId, input.rule)),
      removeRule: (input: Of & { ruleId: string }) => told(of(input).removeRule(input.ruleId)),
      preview: (input: Of & { rule: AlertRuleDraft; rangeMs: number }) => of(input).preview(input.rule, input.rangeMs),
      incidents: (input: Of & { from: number; to: number }) => of(input).between(input.from, input.to),
      acknowledge: (input: Of & { incidentId: string; note?: string }) =>
        told(of(input).acknowledge(input.incidentId, input.note ?? '')),
      silence: (input: Of & { ruleId: string | null; durationMs: number; reason: string }) =>
        told(of(input).silence(input.ruleId, input.durationMs, input.reason)),
      unsilence: (input: Of & { silenceId: string }) => told(of(input).unsilence(input.silenceId)),
      notifiers: () => this.notifiers.list(),
      saveNotifier: (draft: NotifierDraft) => this.notifiers.save(draft),
      removeNotifier: ({ notifierId }: { notifierId: string }) => this.notifiers.remove(notifierId),
      testNotifier: ({ notifierId }: { notifierId: string }) => this.notifiers.test(notifierId, this.now()),
      deliveries: () =>
        [...this.notifiers.tested(), ...all().flatMap((one) => one.deliveries())]
          .sort((a, b) => b.at - a.at)
          .slice(0, 200)
    }
  }

  private blockOf(connectionId: string): Problem | null {
    const found = this.connections.find((one) => one.id === connectionId)
    if (found?.accessMode !== 'read-only') return null
    return { code: 'READ_ONLY', kind: 'user', message: `${found.name} is read-only.`, details: {} }
  }

  /** Every call becomes asynchronous and is written down, as it would be over a wire. */
  private asClient(areas: Record<string, Record<string, unknown>>): TaskdeckClient {
    const client: Record<string, Record<string, unknown>> = {}
    for (const [area, calls] of Object.entries(areas)) {
      client[area] = Object.fromEntries(
        Object.entries(calls).map(([name, call]) => [
          name,
          async (input: unknown, options?: { signal?: AbortSignal }): Promise<unknown> => {
            this.calls.push({ path: `${area}.${name}`, input })
            await this.gate(`${area}.${name}`)
            return (call as (input: unknown, signal?: AbortSignal) => unknown)(input, options?.signal)
          }
        ])
      )
    }
    return client as unknown as TaskdeckClient
  }
}

/** A failure as a procedure throws it on purpose. */
export function problemError(problem: Problem): ORPCError<'PROBLEM', Problem> {
  return new ORPCError('PROBLEM', { defined: true, status: 422, message: problem.message, data: problem })
}

function missing(): never {
  throw problemError({ code: 'NOT_FOUND', kind: 'user', message: 'There is no such task.', details: {} })
}

function illegal(): never {
  throw problemError({
    code: 'ILLEGAL_TRANSITION',
    kind: 'user',
    message: 'The task is no longer in the state that this needs.',
    details: {}
  })
}

async function* testSteps(draft: ConnectionDraft, signal?: AbortSignal): AsyncGenerator<TestStep> {
  const isClear = draft.mysql.tls === 'disabled'
  const elapsed = (ms: number): TestStep['notes'][number] => ({ code: 'elapsed', values: { ms } })
  const results: [TestStep['step'], TestStep['status'], TestStep['notes']][] = [
    ['tcp', 'ok', [elapsed(3)]],
    [
      'tls',
      isClear ? 'skipped' : 'ok',
      [isClear ? { code: 'notEncrypted', values: {} } : { code: 'tlsVersion', values: { version: 'TLSv1.3' } }]
    ],
    ['login', 'ok', [{ code: 'server', values: { name: 'MySQL 8.0.36' } }, elapsed(9)]],
    ['database', 'ok', [{ code: 'database', values: { name: draft.mysql.database } }]],
    ['rights', 'warning', [{ code: 'rightsMissing', values: { rights: 'INSERT, UPDATE, DELETE' } }]],
    ['schema', 'ok', [{ code: 'schemaReady', values: { version: 1 } }]]
  ]
  for (const [step, status, notes] of results) {
    if (signal?.aborted) return
    yield { step, status: 'running', notes: [], problem: null }
    await new Promise((resolve) => setTimeout(resolve, 120))
    const problem =
      step === 'rights'
        ? {
            code: 'NO_RIGHTS',
            kind: 'user' as const,
            message: "GRANT INSERT, UPDATE, DELETE ON lab_queue.* TO 'taskdeck'@'%';",
            details: {}
          }
        : null
    yield { step, status, notes, problem }
  }
}
