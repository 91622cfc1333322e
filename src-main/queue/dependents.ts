import { isTerminal, type AfterFailure, type TaskState } from '../kernel/index.ts'
import type { Recovered, SettleResult } from './task-store.ts'

/** Dependents that one transaction releases or fails at most, and the levels of a failing chain that it goes down. */
export const endingLimits = { dependents: 500, levels: 10, parents: 100 } as const

/** Whether what waits for a task in this state goes on as wished. Partial results are results. */
export const isGoodEnd = (state: TaskState): boolean => state === 'SUCCESS' || state === 'PARTIAL_SUCCESS'

/** The end of one task, as one that waited for it sees it. */
export interface DependencyEnd {
  readonly isGood: boolean
  readonly afterFailure: AfterFailure
}

export interface WaitingTask {
  readonly state: TaskState
  readonly isHeld: boolean
  /** Tasks that it still waited for before these ended. */
  readonly waitsFor: number
}

/** `go on waiting` for `left` others, or for its release when it is held; `none` when it no longer waits. */
export type DependentStep =
  { readonly does: 'release' | 'fail' | 'none' } | { readonly does: 'wait'; readonly left: number }

/** What becomes of a task when some of those that it waits for have ended. */
export function stepOfDependent(task: WaitingTask, ends: readonly DependencyEnd[]): DependentStep {
  if (task.state !== 'CREATED') return { does: 'none' }
  if (ends.some(failsWith)) return { does: 'fail' }
  const left = Math.max(0, task.waitsFor - ends.length)
  return left === 0 && !task.isHeld ? { does: 'release' } : { does: 'wait', left }
}

const failsWith = ({ isGood, afterFailure }: DependencyEnd): boolean => !isGood && afterFailure === 'FAIL'

/** As a store's results say it. */
export const withDependents = (dependents: readonly Recovered[]): { readonly dependents?: readonly Recovered[] } =>
  dependents.length > 0 ? { dependents } : {}

/** What a call did to dependents stands with the first of its results that has a state, or the first of all: SQLite also goes on with what others left. */
export function tellDependents(results: readonly SettleResult[], dependents: readonly Recovered[]): SettleResult[] {
  const withState = results.findIndex(({ state }) => state !== undefined)
  const first = Math.max(0, withState)
  return results.map((result, index) => (index === first ? { ...result, ...withDependents(dependents) } : result))
}

/** Whether some of them may be due now. */
export const isReleasing = (result: { readonly dependents?: readonly Recovered[] }): boolean =>
  result.dependents?.some(({ state }) => state === 'QUEUED') === true

/** What a new task starts with, by the states of the tasks that it names. */
export function startAfter(
  states: readonly TaskState[],
  afterFailure: AfterFailure
): { readonly open: number; readonly fails: boolean } {
  const ended = states.filter(isTerminal)
  return {
    open: states.length - ended.length,
    fails: ended.some((state) => failsWith({ isGood: isGoodEnd(state), afterFailure }))
  }
}

/** The error of a task that failed because of one that it waited for. */
export const dependencyError = {
  code: 'DEPENDENCY',
  class: 'final',
  message: 'A task that it waited for failed or was cancelled.'
} as const
