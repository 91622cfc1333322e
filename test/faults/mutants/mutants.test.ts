import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import type { Violation } from '../checker.ts'
import { mutants } from './mutants.ts'
import { scenarioNames } from './scenarios.ts'

/** What the checker must name, at least. */
const namedBy: Readonly<Record<string, readonly Violation['rule'][]>> = {
  'no-fence': ['I4'],
  'owner-only-fence': ['I4'],
  'recovery-by-id': ['I8'],
  'statement-retry': ['I4'],
  'client-clock-lease': ['I3'],
  'client-clock-due': ['I9']
}

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

it('the engine as it is breaks no promise in any scenario', { timeout: 120_000 }, async () => {
  expect(await play(scenarioNames, null)).toEqual(Object.fromEntries(scenarioNames.map((name) => [name, []])))
})

describe('an engine that is broken on purpose', () => {
  it('is in the list of what must be named', () => {
    expect(Object.keys(namedBy).sort()).toEqual(Object.keys(mutants).sort())
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
