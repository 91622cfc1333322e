import { faultCommand } from './fault-command.ts'
import { faultIds } from './injections/index.ts'

/* `npm run faults`: the whole matrix of RELIABILITY section 3 that concerns the engine; see docs/faults.md. */
await faultCommand(process.argv.slice(2), {
  tasks: 5_000,
  workers: 4,
  minutes: 5,
  pauseMs: 1_000,
  limited: true,
  faults: faultIds.filter((id) => id !== 'F19')
})
