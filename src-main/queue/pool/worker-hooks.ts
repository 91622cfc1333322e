import { AppError, withDeadline, type AttemptError, type Clock, type TaskState } from '../../kernel/index.ts'
import { messageOf } from './error-text.ts'

/** One attempt, as hooks are told of it. */
export interface HookedAttempt {
  readonly workerId: string
  readonly taskId: string
  readonly type: string
  readonly attempt: number
  readonly owner: string
}

export interface EndedHookedAttempt extends HookedAttempt {
  /** The task's state after it; null when the lease was lost or the outcome could not be stored. */
  readonly state: TaskState | null
  /** Why it failed; null when it did not. */
  readonly error: AttemptError | null
}

/**
 * What a program that embeds a worker is told. A hook cannot hurt the worker: what it throws is logged, and after five seconds it is no
 * longer waited for. It runs in the worker's own thread, so it must not compute for long. Only `onStart` and `onStop` are waited for.
 */
export interface WorkerHooks {
  /** Before the first claim. */
  onStart?(worker: { readonly workerId: string }): void | Promise<void>
  /** A claim brought these; they have not begun. */
  onClaimed?(attempts: readonly HookedAttempt[]): void | Promise<void>
  /** The handler begins. */
  onAttemptStart?(attempt: HookedAttempt): void | Promise<void>
  /** Its outcome is stored, or will never be. */
  onAttemptEnd?(attempt: EndedHookedAttempt): void | Promise<void>
  /** The task may be someone else's: its handler is being stopped. */
  onLeaseLost?(attempt: HookedAttempt): void | Promise<void>
  /** After the last task, when `onStart` was called. `requested`: another process asked for it. */
  onStop?(worker: { readonly workerId: string; readonly requested: boolean }): void | Promise<void>
}

export type HookName = keyof WorkerHooks

const hookMs = 5_000

export interface HookRunnerOptions {
  readonly hooks: WorkerHooks
  readonly clock: Clock
  readonly log: (message: string) => void
}

/** Calls hooks so that nothing they do comes back. */
export class HookRunner {
  private readonly options: HookRunnerOptions

  constructor(options: HookRunnerOptions) {
    this.options = options
  }

  has(name: HookName): boolean {
    return this.options.hooks[name] !== undefined
  }

  /** Resolves when the hook has ended or `withinMs` are over. Never rejects. */
  async call<Name extends HookName>(
    name: Name,
    event: Parameters<NonNullable<WorkerHooks[Name]>>[0],
    withinMs = hookMs
  ): Promise<void> {
    const { hooks, clock, log } = this.options
    // TypeScript does not see that the event belongs to the hook of this name.
    const hook = hooks[name] as ((event: unknown) => unknown) | undefined
    if (!hook) return
    const late = (): Error => new AppError('STATEMENT_TIMEOUT', 'operational', `not done after ${withinMs} ms`)
    try {
      await withDeadline(clock, withinMs, Promise.resolve(hook.call(hooks, event)), late)
    } catch (error) {
      log(`hook ${name}: ${messageOf(error)}`)
    }
  }
}
