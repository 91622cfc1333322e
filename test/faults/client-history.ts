import { existsSync, readFileSync } from 'node:fs'

/*
 * What each worker process says of itself, as JSON lines (process/recorded-queue.ts). A call without a return line, or that failed, is
 * unknown: it may have happened or not, and the checker accepts both.
 */

/** Task and attempt. The worker is the line's account. */
export type ShortFence = [taskId: string, attempt: number]

export type HistoryLine =
  | { readonly op: 'claim'; readonly account: string; readonly fences: readonly ShortFence[] }
  | { readonly op: 'lost'; readonly account: string; readonly fences: readonly ShortFence[] }
  /** A claim was asked for after the process had been told to stop. */
  | { readonly op: 'late-claim'; readonly account: string }
  | {
      readonly op: 'settle'
      readonly account: string
      readonly pid: number
      readonly call: number
      readonly asked: readonly { readonly fence: ShortFence; readonly outcome: string }[]
    }
  | {
      readonly op: 'settled'
      readonly account: string
      readonly pid: number
      readonly call: number
      readonly states: readonly (string | null)[]
    }
  | {
      readonly op: 'failed'
      readonly account: string
      readonly pid: number
      readonly call: number
      readonly code: string
    }
  /** The same settlement handed in once more. */
  | {
      readonly op: 'repeat'
      readonly account: string
      readonly fence: ShortFence
      readonly first: string | null
      readonly again: string | null
    }

export interface SettleCall {
  readonly account: string
  readonly fence: ShortFence
  readonly outcome: string
  /** The state that it was told; null when it was refused; undefined when it never knew. */
  readonly state: string | null | undefined
}

export interface ClientHistory {
  readonly claims: readonly { readonly account: string; readonly fence: ShortFence }[]
  readonly settles: readonly SettleCall[]
  readonly repeats: readonly Extract<HistoryLine, { op: 'repeat' }>[]
  readonly lateClaims: readonly string[]
  readonly lostLeases: number
}

export function readHistory(files: readonly string[]): ClientHistory {
  return toHistory(files.flatMap(readLines))
}

/** A process that was killed may have left half a last line. */
function readLines(file: string): HistoryLine[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as HistoryLine)
}

export function toHistory(lines: readonly HistoryLine[]): ClientHistory {
  const answers = new Map<string, readonly (string | null)[]>()
  for (const line of lines) if (line.op === 'settled') answers.set(callKey(line), line.states)
  return {
    claims: lines.flatMap((line) =>
      line.op === 'claim' ? line.fences.map((fence) => ({ account: line.account, fence })) : []
    ),
    settles: lines.flatMap((line) =>
      line.op === 'settle'
        ? line.asked.map(({ fence, outcome }, index) => ({
            account: line.account,
            fence,
            outcome,
            state: answers.get(callKey(line))?.[index]
          }))
        : []
    ),
    repeats: lines.filter((line) => line.op === 'repeat'),
    lateClaims: lines.flatMap((line) => (line.op === 'late-claim' ? [line.account] : [])),
    lostLeases: lines.reduce((sum, line) => sum + (line.op === 'lost' ? line.fences.length : 0), 0)
  }
}

const callKey = ({ account, pid, call }: { account: string; pid: number; call: number }): string =>
  `${account}/${pid}/${call}`
