import { z } from 'zod'
import { AppError, misfireAfterMs, scheduleInput, toAppError, type NewTask, type Schedule } from '../kernel/index.ts'
import { dueTicks, firstTick, type GiveWay } from './cron-ticks.ts'
import { validateNewTask } from './new-task.ts'
import { truncateUtf8 } from './stored-text.ts'
import type { SubmitResult } from './task-store.ts'

/* What both stores share about schedules: pure, by the times that they read from their database. */

export type CheckedSchedule = z.output<typeof scheduleInput>

/** Due schedules that one round looks after, and how many a queue has at most. */
export const scheduleLimits = { perRound: 100, inAll: 1_000, problemBytes: 400 } as const

/** The schedule as a store may write it. Throws INVALID_INPUT that says what to do; `nowMs` by the database's clock. */
export function checkSchedule(input: unknown, nowMs: number): CheckedSchedule & { readonly nextAt: number | null } {
  const parsed = scheduleInput.safeParse(input)
  if (!parsed.success) throw invalid(`The schedule is not valid: ${z.prettifyError(parsed.error)}`)
  const valid = parsed.data
  if (!valid.name.isWellFormed() || valid.name.includes('\0')) throw invalid('The name has a NUL or half a character.')
  checkTask(valid)
  const nextAt = firstTick(valid, nowMs)
  return { ...valid, nextAt: valid.enabled ? nextAt : null }
}

function checkTask({ task }: CheckedSchedule): void {
  if (task.deadlineAt !== null)
    throw invalid('A deadline is one instant and would be over for every later tick: leave deadlineAt out.')
  try {
    validateNewTask({ ...task, idempotencyKey: null, runAt: null })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, 'user', error.message.replace(/^Task 1 of the batch/, "The schedule's task"), {
      cause: error
    })
  }
}

/** The task of one tick. Whoever submits it first wins: the tick is in its key. */
export function taskOfTick({ name, task }: Pick<CheckedSchedule, 'name' | 'task'>, tick: number): NewTask {
  return { ...task, runAt: tick, idempotencyKey: `schedule:${new Date(tick).toISOString()}:${name}` }
}

/** What a round did with one schedule, to be written if nobody changed or advanced it meanwhile. */
export interface ScheduleAdvance {
  readonly nextAt: number | null
  readonly lastTickAt: number | null
  readonly lastTaskId: string | null
  readonly missedMore: number
  readonly problem: string | null
  /** The type of each task that this round itself made. */
  readonly submitted: readonly string[]
}

/** A store's own submission. */
export type SubmitTasks = (tasks: readonly NewTask[]) => Promise<SubmitResult[]>

export interface TickWork {
  readonly submit: SubmitTasks
  readonly giveWay: GiveWay
}

export interface DueSchedule extends CheckedSchedule {
  readonly nextAt: number
  readonly lastTickAt: number | null
  readonly lastTaskId: string | null
}

/**
 * Submits what is due of one schedule. A tick that is refused (a quota, a payload that is not valid) is left out and counted as missed: the
 * next one may do better. Throws what is operational: then the ticks are still due, and those submitted are known by their keys.
 */
export async function runTicks(
  due: DueSchedule,
  nowMs: number,
  { submit, giveWay }: TickWork
): Promise<ScheduleAdvance> {
  let { lastTickAt, lastTaskId } = due
  // By another program, which left the next tick where it was.
  if (!due.enabled) return { nextAt: null, lastTickAt, lastTaskId, missedMore: 0, problem: null, submitted: [] }
  const { run, missed, nextAt } = await dueTicks(due, { fromMs: due.nextAt, nowMs, giveWay })
  const submitted: string[] = []
  let refused = 0
  let problem: string | null = null
  for (const tick of run) {
    try {
      const [result] = await submit([taskOfTick(due, tick)])
      if (result?.status === 'created') submitted.push(due.task.type)
      lastTaskId = result?.taskId ?? lastTaskId
      lastTickAt = tick
      problem = null
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'user') throw error
      // A misfire is counted already.
      if (nowMs - tick <= misfireAfterMs) refused++
      problem = problemText(error)
    }
  }
  return { nextAt, lastTickAt, lastTaskId, missedMore: missed + refused, problem, submitted }
}

/** What a row that is due leads to. One that is no schedule gets no tick until someone writes it anew. */
export async function advanceOf(row: StoredSchedule, nowMs: number, work: TickWork): Promise<ScheduleAdvance> {
  const { lastTickAt, lastTaskId, nextAt } = row
  const unchanged = { lastTickAt, lastTaskId, missedMore: 0, submitted: [] }
  try {
    const schedule = readSchedule(row)
    if (nextAt === null) return { ...unchanged, nextAt: firstTick(schedule, nowMs), problem: null }
    return await runTicks({ ...schedule, nextAt, lastTickAt, lastTaskId }, nowMs, work)
  } catch (error) {
    const problem = toAppError(error)
    if (problem.kind !== 'user') throw error
    return { ...unchanged, nextAt: null, problem: problemText(problem) }
  }
}

/** What a round throws for the schedules that it could not advance: all of them are named, as far as the text goes. */
export function failedSchedules(failures: readonly { readonly name: string; readonly error: unknown }[]): AppError {
  const problems = failures.map(({ name, error }) => ({ name, problem: toAppError(error) }))
  const worst = (problems.find(({ problem }) => problem.kind === 'bug') ?? problems[0])?.problem
  if (!worst || problems.length === 1) return worst ?? new AppError('BUG', 'bug', 'No schedule failed.')
  const texts = problems.slice(0, mostNamed).map(({ name, problem }) => `"${name}": ${problemText(problem)}`)
  const more = problems.length > mostNamed ? `; and ${problems.length - mostNamed} more` : ''
  return new AppError(worst.code, worst.kind, `${problems.length} schedules failed. ${texts.join('; ')}${more}`, {
    cause: new AggregateError(failures.map(({ error }) => error)),
    details: { schedules: problems.length }
  })
}

const mostNamed = 5

/** A change of the task alone does not lose a tick that is due. */
export const keepsTick = (before: StoredSchedule, checked: CheckedSchedule): boolean =>
  checked.enabled && before.cron === checked.cron && before.timeZone === checked.timeZone

function problemText({ code, message }: AppError): string {
  return truncateUtf8(`${code}: ${message}`, scheduleLimits.problemBytes)
}

/** A row as the stores read it; times in ms. */
export interface StoredSchedule {
  readonly name: string
  readonly cron: string
  readonly timeZone: string
  readonly misfire: string
  readonly enabled: boolean
  readonly task: string
  readonly nextAt: number | null
  readonly lastTickAt: number | null
  readonly lastTaskId: string | null
  readonly missed: number
  readonly problem: string | null
}

/** Other programs may write the table too. Throws INVALID_INPUT for a row that is no schedule. */
function readSchedule(row: StoredSchedule): Schedule {
  const { name, cron, timeZone, misfire, enabled, ...rest } = row
  const parsed = scheduleInput.safeParse({ name, cron, timeZone, misfire, enabled, task: parseJson(row.task) })
  if (!parsed.success) throw invalid(`The schedule "${name}" is not valid: ${z.prettifyError(parsed.error)}`)
  return { ...rest, ...parsed.data }
}

/** For a list: a row that cannot be read shows a task of no use, and says why. */
export function showSchedule(row: StoredSchedule): Schedule {
  try {
    return readSchedule(row)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const task = scheduleInput.shape.task.parse({ type: 'unreadable', payload: '{}' })
    const problem = truncateUtf8(message, scheduleLimits.problemBytes)
    return { ...row, misfire: 'SKIP', task, problem }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One more would be run, but not be in the list. */
export function requireRoomForSchedule(others: number): void {
  if (others >= scheduleLimits.inAll)
    throw invalid(`There are ${scheduleLimits.inAll} schedules already: remove one that is not needed any more.`)
}

const invalid = (message: string): AppError => new AppError('INVALID_INPUT', 'user', message)
