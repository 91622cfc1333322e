/*
 * Writes docs/state-machine.md from the one table of transitions (src-main/kernel/task-state.ts): `node scripts/state-machine.mjs`.
 * test/support/docs.test.ts fails when the page is not what this writes.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import {
  leasedStates,
  operatorActions,
  taskEvents,
  taskStates,
  terminalStates,
  transitions,
  waitingStates
} from '../src-main/kernel/task-state.ts'

export const pageFile = join(import.meta.dirname, '../docs/state-machine.md')

/** What a state means. A state without a line here is an error, so that none is forgotten. */
const meanings = {
  CREATED: 'Accepted and held: by its producer, or because tasks that it waits for have not ended.',
  QUEUED: 'Waits for a worker, from `run_at` on.',
  RETRY_WAIT: 'An attempt failed; the next one is due at `run_at`.',
  PAUSED: 'An operator holds it.',
  RUNNING: 'One worker holds its lease.',
  CANCEL_REQUESTED: 'Runs, and was asked to stop. It may still end as it would have.',
  SUCCESS: 'Ended well.',
  PARTIAL_SUCCESS: 'Ended well in part; the counts and the report say in which.',
  FAILED: 'Ended badly, with a dead letter that says why.',
  CANCELLED: 'Ended because someone wanted it to.'
}

const occasions = {
  release: 'An operator releases it; or the last task that it waited for has ended.',
  cancel: 'An operator cancels it: at once when it waits, by request when it runs.',
  pause: 'An operator pauses it.',
  resume: 'An operator lets it go on.',
  retry: 'An operator retries it, or replays its dead letter: all attempts again.',
  claim: 'A worker claims it; the fence grows by one.',
  succeed: 'Its handler returned.',
  succeedPartially: 'Its handler returned `partial(result)`.',
  retryLater: 'Its attempt failed or its lease expired, and attempts are left.',
  fail: 'Its attempt failed for good, or was the last one.',
  acknowledgeCancel: 'Its handler stopped because it was asked to.',
  handBack: 'Its worker gives it back unstarted, or stops. Not counted as an attempt.',
  passDeadline: 'Its deadline passed before a worker claimed it, also while it was held or waited for others.',
  failDependency: 'A task that it waited for ended badly, and its producer chose to fail with it.'
}

/** As the format check wants it. */
export async function statePage() {
  return format(draft(), { ...(await resolveConfig(pageFile)), parser: 'markdown' })
}

function draft() {
  return `# The life of a task

Written by \`scripts/state-machine.mjs\` from the table in \`src-main/kernel/task-state.ts\`, which the guards of the SQL, the buttons of the page and
the tests derive from. Do not edit this page. What is promised about it all: [delivery.md](delivery.md).

\`\`\`mermaid
${diagram()}
\`\`\`

## States

| state | meaning | events that leave it |
| --- | --- | --- |
${taskStates.map(stateRow).join('\n')}

Waiting for a worker: ${names(waitingStates)}. Under a lease: ${names(leasedStates)}. Terminal: ${names(terminalStates)}; only an operator's
${names(operatorActions.filter(leavesTerminal))} leaves a terminal state.

## Events

| event | from | to | when |
| --- | --- | --- | --- |
${taskEvents.flatMap(eventRows).join('\n')}

Operators cause ${names(operatorActions)}. Every change is one conditional write that names the state it comes from; of two that race, one
changes nothing and is told so. A write to a task under a lease also names its worker and its attempt (the fence).
`
}

function diagram() {
  const edges = new Map()
  for (const { event, from, to } of transitions) {
    const edge = `${from} --> ${to}`
    edges.set(edge, [...(edges.get(edge) ?? []), event])
  }
  const lines = [...edges].map(([edge, events]) => `  ${edge}: ${events.join(', ')}`)
  const starts = ['CREATED', 'QUEUED'].map((state) => `  [*] --> ${state}: submit`)
  const ends = terminalStates.map((state) => `  ${state} --> [*]`)
  return ['stateDiagram-v2', ...starts, ...lines, ...ends].join('\n')
}

function stateRow(state) {
  const events = [...new Set(transitions.filter(({ from }) => from === state).map(({ event }) => event))]
  return `| \`${state}\` | ${said(meanings, state)} | ${names(events) || 'none'} |`
}

function eventRows(event) {
  const byTarget = Map.groupBy(
    transitions.filter((one) => one.event === event),
    ({ to }) => to
  )
  return [...byTarget].map(([to, steps]) => {
    return `| \`${event}\` | ${names(steps.map(({ from }) => from))} | \`${to}\` | ${said(occasions, event)} |`
  })
}

function said(texts, name) {
  if (!Object.hasOwn(texts, name)) throw new Error(`scripts/state-machine.mjs says nothing about ${name}`)
  return texts[name]
}

const leavesTerminal = (event) => transitions.some((one) => one.event === event && terminalStates.includes(one.from))
const names = (list) => list.map((name) => `\`${name}\``).join(', ')

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(pageFile, await statePage())
