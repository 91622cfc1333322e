import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import type { Violation } from '../checker.ts'
import { mutants } from './mutants.ts'
import { runScenario } from './scenarios.ts'

/** What the checker must name, at least. */
const namedBy: Readonly<Record<string, readonly Violation['rule'][]>> = {
  'no-fence': ['I4'],
  'owner-only-fence': ['I4'],
  'recovery-by-id': ['I8'],
  'statement-retry': ['I4'],
  'client-clock-lease': ['I3'],
  'quota-without-lock': ['I7'],
  'limit-without-gate': ['I7'],
  'client-clock-due': ['I9']
}

const unbroken = new Set<string>()

/** A process of its own: the engine's modules are edited as they are loaded. */
async function play(scenarios: readonly string[], mutant: string | null): Promise<Record<string, Violation[]>> {
  const serverUrl = inject('mariadbUrl')
  const file = join(import.meta.dirname, 'scenario-process.ts')
  const env = { ...process.env, ...(mutant === null ? {} : { MUTANT: mutant }) }
  const child = spawn(process.execPath, [file, serverUrl, ...scenarios], { env, timeout: 110_000 })
  let output = ''
  let errors = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${scenarios.join(', ')} ended with ${code}: ${errors}`)
  return JSON.parse(output) as Record<string, Violation[]>
}

/** In this process: nothing is edited. */
it.each([
  { scenario: 'deadlocked-settlement', what: 'FAULTS 10: after a deadlock the whole transaction runs again' },
  {
    scenario: 'rewound-by-recovery',
    what: 'FAULTS 13: recovery does not rewind a task that ended after it was listed'
  },
  { scenario: 'stale-holder', what: 'FAULTS 14: an old holder ends nothing' },
  { scenario: 'stale-self', what: 'FAULTS 14: an old holder ends nothing, also when it holds the task again' },
  {
    scenario: 'skewed-claimer',
    what: 'FAULTS 35: a clock that is an hour ahead takes nothing early and gives no other lease'
  },
  { scenario: 'racing-claimers', what: 'FAULTS 39: two claims never take up the same room of a limit' },
  { scenario: 'racing-submitters', what: 'FAULTS 39: two submissions never take up the same room of a quota' }
])('the engine as it is, $what', async ({ scenario }) => {
  unbroken.add(scenario)
  expect(await runScenario(scenario, inject('mariadbUrl'))).toEqual([])
})

describe('an engine that is broken on purpose', () => {
  it('is in the list of what must be named, and its scenario was played unbroken', () => {
    expect(Object.keys(namedBy).sort()).toEqual(Object.keys(mutants).sort())
    for (const { scenario } of Object.values(mutants)) expect(unbroken).toContain(scenario)
  })

  it.each(Object.entries(mutants).map(([name, { what, scenario }]) => ({ name, what, scenario })))(
    '$name ($what) is caught',
    { timeout: 120_000 },
    async ({ name, scenario }) => {
      const { [scenario]: violations = [] } = await play([scenario], name)
      const rules = violations.map(({ rule }) => rule)
      expect(rules).toEqual(expect.arrayContaining([...(namedBy[name] ?? ['nothing'])]))
    }
  )
})
