import { faultCommand } from './fault-command.ts'

/* `npm run faults -- kill`: processes that die or freeze and a database that dies, nothing else. */
await faultCommand(process.argv.slice(2), {
  tasks: 20_000,
  workers: 4,
  minutes: 10,
  pauseMs: 2_000,
  limited: false,
  faults: ['F1', 'F3', 'F7']
})
