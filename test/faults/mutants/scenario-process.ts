/*
 * Runs scenarios on the engine as MUTANT breaks it, or as it is: node scenario-process.ts SERVER_URL NAME... Prints the violations of
 * each as JSON.
 */
import { applyMutant } from './apply.ts'

// Ahead by so much: read only by mutants that trust the clock of their machine.
process.env['CLIENT_SKEW_SECONDS'] = '3600'
const mutant = process.env['MUTANT']
if (mutant) applyMutant(mutant)
const { runScenario } = await import('./scenarios.ts')
const [, , serverUrl = '', ...names] = process.argv
const violations: Record<string, unknown> = {}
for (const name of names) violations[name] = await runScenario(name, serverUrl)
process.stdout.write(JSON.stringify(violations))
