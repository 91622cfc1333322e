import {
  FlowWindow,
  type FlowCount,
  type ProbeName,
  type ProbeRound,
  type TaskState,
  type TypeFlow
} from '../../kernel/index.ts'
import { decodeTime, type CompiledProfile, type FlowProbe, type TableProfile } from '../../schema-profiles/index.ts'
import { ask } from './foreign-depth.ts'
import { numberOf, typeName } from './row-values.ts'

/**
 * How far windows lag behind now. A transaction writes its moment, and is seen when it commits: one that commits later than this after
 * its moment is missed.
 */
export const lateCommitsMs = 10_000
const minuteMs = 60_000

interface Windows {
  readonly types: readonly string[]
  count(type: string, outcomes: (state: string) => boolean): number
}

/** What came in and ended in the windows before `nowMs`, by type; of what the table does not say, 0, which its limit makes unknown. */
export async function readForeignFlow(
  round: ProbeRound,
  compiled: CompiledProfile,
  nowMs: number
): Promise<TypeFlow[]> {
  const { profile } = compiled
  const uptoMs = nowMs - lateCommitsMs
  const windows = async (probes: readonly FlowProbe[], name: ProbeName, minutes: number): Promise<Windows> => {
    const all: FlowWindow[] = []
    for (const probe of probes)
      all.push(new FlowWindow(await flowRows(round, probe, { profile, name, uptoMs, minutes }), minutes))
    return together(all)
  }
  const submitted = await windows(compiled.submitted ? [compiled.submitted] : [], 'submitted', 1)
  const finished = await windows(compiled.ended, 'finished', 1)
  const ended = await windows(compiled.ended, 'ended', 5)
  const types = [...new Set([...submitted.types, ...finished.types, ...ended.types])].sort()
  const flows = types.map((type) => ({
    type,
    submitted1m: submitted.count(type, () => true),
    finished1m: finished.count(type, isKnown),
    ended5m: ended.count(type, isKnown),
    failed5m: ended.count(type, (state) => state === ('FAILED' satisfies TaskState)),
    retried5m: 0,
    recovered5m: 0,
    duration: null,
    pickup: null
  }))
  return flows.filter(({ submitted1m, ended5m }) => submitted1m + ended5m > 0)
}

/** Rows of another state carry a moment too, such as one that was put back after its end. */
const noState = ''
const isKnown = (state: string): boolean => state !== noState

interface Window {
  readonly profile: TableProfile
  readonly name: ProbeName
  readonly uptoMs: number
  readonly minutes: number
}

async function flowRows(
  round: ProbeRound,
  flow: FlowProbe,
  { profile, name, uptoMs, minutes }: Window
): Promise<FlowCount[]> {
  const rows = await ask(round, flow.of(name, { fromMs: uptoMs - minutes * minuteMs, uptoMs }))
  return (rows ?? []).map((row) => ({
    type: typeName(profile, row['type']),
    outcome: flow.outcomes[numberOf(row, 'outcome')] ?? noState,
    count: numberOf(row, 'n'),
    reachedMs: uptoMs - (decodeTime(flow.encoding, row['earliest']) ?? uptoMs)
  }))
}

/** Each is extrapolated by itself. */
const together = (windows: readonly FlowWindow[]): Windows => ({
  types: windows.flatMap(({ types }) => types),
  count: (type, outcomes) => windows.reduce((sum, window) => sum + window.count(type, outcomes), 0)
})
