import { AppError, slowestReadingMs, toAppError, withDeadline } from '../kernel/index.ts'
import type { Clock, Point, QueueReading } from '../kernel/index.ts'
import { Pace, backOffMs } from './pace.ts'
import { pointsOf } from './points.ts'

export interface Tick {
  readonly connectionId: string
  /** Grows by one a tick, also over stop and start. */
  readonly seq: number
  readonly reading: QueueReading
  readonly points: readonly Point[]
}

/** Times are the local clock's, milliseconds since the epoch. */
export type SamplerState =
  | { readonly status: 'connecting' }
  | { readonly status: 'live'; readonly lastReadingAt: number }
  | {
      readonly status: 'lost'
      /** The last good reading of this run; null when there was none. */
      readonly since: number | null
      readonly nextTryAt: number
      /** In a row. */
      readonly failures: number
      readonly error: AppError
    }

export interface SamplerOptions {
  readonly connectionId: string
  /** Aborted when nobody waits for the reading any more: past its deadline, or stopped. */
  readonly read: (signal: AbortSignal) => Promise<QueueReading>
  readonly clock: Clock
  /** Default 2,000. */
  readonly everyMs?: number
  /** The interval is never stretched beyond. Default `slowestReadingMs`. */
  readonly slowestMs?: number
  /** For one reading. Default 10,000. */
  readonly deadlineMs?: number
  /** The number of the last tick of an earlier sampler of this connection. Default 0. */
  readonly lastSeq?: number
  readonly onTick: (tick: Tick) => void
  readonly onState: (state: SamplerState) => void
  /** A listener threw: a bug, which must not end the sampling. */
  readonly onBug?: (error: AppError) => void
}

export interface Sampler {
  /** Does nothing while it runs. */
  start(): void
  /** Ends the loop without waiting for a reading in flight, whose result is dropped. */
  stop(): Promise<void>
  /** Reads now instead of at `nextTryAt`. */
  retryNow(): void
  readonly state: SamplerState
  readonly seq: number
  /** Current distance of two readings; grows when readings are dear. */
  readonly intervalMs: number
}

/** A reading that missed its deadline holds back the next one, at most this long. */
const abandonAfterMs = 60_000

/** Reads a queue again and again: never two readings at once, slower when they cost much, and by itself again after a loss. */
export function createSampler(options: SamplerOptions): Sampler {
  return new LoopSampler(options)
}

interface Flight {
  readonly since: number
  readonly abort: AbortController
  /** Settles with the reading, whatever came of it. */
  readonly landed: Promise<void>
}

class LoopSampler implements Sampler {
  private readonly options: SamplerOptions
  private readonly pace: Pace
  private current: SamplerState = { status: 'connecting' }
  private lastSeq: number
  private lastReadingAt: number | null = null
  private failures = 0
  private run: { readonly stopper: AbortController; readonly ended: Promise<void> } | undefined
  private wake = new AbortController()
  private pausing = false
  /** The reading that has not come back, and when it was begun by the monotonic clock. */
  private inFlight: Flight | undefined

  constructor(options: SamplerOptions) {
    this.options = options
    this.lastSeq = options.lastSeq ?? 0
    this.pace = new Pace({ everyMs: options.everyMs ?? 2_000, slowestMs: options.slowestMs ?? slowestReadingMs })
  }

  get state(): SamplerState {
    return this.current
  }
  get seq(): number {
    return this.lastSeq
  }
  get intervalMs(): number {
    return this.pace.intervalMs
  }

  start(): void {
    if (this.run) return
    const stopper = new AbortController()
    this.run = { stopper, ended: this.loop(stopper.signal) }
  }

  async stop(): Promise<void> {
    const run = this.run
    this.run = undefined
    run?.stopper.abort()
    this.inFlight?.abort.abort()
    this.wake.abort()
    await run?.ended
  }

  retryNow(): void {
    this.wake.abort()
  }

  private async loop(stop: AbortSignal): Promise<void> {
    this.failures = 0
    this.enter({ status: 'connecting' })
    while (!stop.aborted) {
      this.wake = new AbortController()
      const started = this.options.clock.monotonic()
      const pauseMs = await this.once(stop, started)
      if (!stop.aborted) await this.pause(pauseMs, this.wake.signal)
    }
  }

  /** One reading; returns how long to wait after it. */
  private async once(stop: AbortSignal, started: number): Promise<number> {
    const { clock } = this.options
    try {
      const reading = await untilStopped(stop, this.readOnce(started))
      if (reading && !stop.aborted) this.succeed(reading)
      return Math.max(0, this.pace.intervalMs - (clock.monotonic() - started))
    } catch (error) {
      if (stop.aborted) return 0
      this.failures++
      const delayMs = backOffMs(this.failures, clock.random())
      this.enter({
        status: 'lost',
        since: this.lastReadingAt,
        nextTryAt: clock.now() + delayMs,
        failures: this.failures,
        error: toAppError(error)
      })
      return delayMs
    }
  }

  private async readOnce(started: number): Promise<QueueReading> {
    const { clock, deadlineMs = 10_000 } = this.options
    const answered = <T>(work: Promise<T>): Promise<T> =>
      withDeadline(clock, deadlineMs, work, () => {
        this.inFlight?.abort.abort()
        return noAnswer(deadlineMs)
      })
    if (this.inFlight && started - this.inFlight.since < abandonAfterMs) await answered(this.inFlight.landed)
    return answered(this.beginReading(clock.monotonic()))
  }

  private beginReading(since: number): Promise<QueueReading> {
    const abort = new AbortController()
    const reading = new Promise<QueueReading>((resolve) => resolve(this.options.read(abort.signal)))
    const flight: Flight = {
      since,
      abort,
      landed: reading.then(
        () => this.land(flight, true),
        () => this.land(flight, false)
      )
    }
    this.inFlight = flight
    return reading
  }

  private land(flight: Flight, answered: boolean): void {
    if (this.inFlight !== flight) return
    this.inFlight = undefined
    // It came after its deadline; its picture is old, yet the link answers again.
    if (answered && this.pausing && this.current.status === 'lost') this.retryNow()
  }

  private succeed(reading: QueueReading): void {
    this.failures = 0
    const isServerSlow = reading.limits.some(({ reason }) => reason === 'slow')
    this.pace.record({ costMs: reading.costMs, costRows: reading.costRows, isServerSlow })
    this.lastReadingAt = this.options.clock.now()
    this.enter({ status: 'live', lastReadingAt: this.lastReadingAt })
    const tick = { connectionId: this.options.connectionId, seq: ++this.lastSeq, reading, points: pointsOf(reading) }
    this.tell(() => this.options.onTick(tick))
  }

  private enter(state: SamplerState): void {
    this.current = state
    this.tell(() => this.options.onState(state))
  }

  private tell(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.options.onBug?.(toAppError(error))
    }
  }

  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    this.pausing = true
    try {
      await this.options.clock.sleep(ms, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.pausing = false
    }
  }
}

const noAnswer = (deadlineMs: number): AppError =>
  new AppError('STATEMENT_TIMEOUT', 'operational', `The database did not answer within ${deadlineMs / 1000} s.`)

/** Undefined once stopped; a failure after that is nobody's. */
function untilStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onStop = (): void => resolve(undefined)
    if (stop.aborted) onStop()
    stop.addEventListener('abort', onStop, { once: true })
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop))
  })
}
