/* `npm run worker -- ...`: the worker process without any shell; its arguments are its own (see --help). */
import { join } from 'node:path'
import {
  callerDir,
  ensureBuild,
  ensureDependencies,
  root,
  runCommand,
  stopWithNpm,
  supervise,
  toolNode
} from './setup.mjs'

await runCommand(async () => {
  stopWithNpm()
  await ensureDependencies()
  await ensureBuild()
  // started where the user is, so that `--handlers ./mine` means their folder
  return supervise(toolNode(), [join(root, 'out/main/worker.js'), ...process.argv.slice(2)], { cwd: callerDir() })
})
