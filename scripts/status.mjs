/* `npm run status -- ...`: how a queue is, with an exit code for scripts; its arguments are its own (see --help). */
import { join } from 'node:path'
import {
  SetupError,
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
  try {
    await ensureDependencies()
    await ensureBuild()
  } catch (error) {
    // 1 says that something is wrong with the queue, of which nothing is known.
    if (error instanceof SetupError) error.exitCode = 2
    throw error
  }
  // Started where the user is, so that `--data ./mine` means their folder.
  return supervise(toolNode(), [join(root, 'out/main/status.js'), ...process.argv.slice(2)], { cwd: callerDir() })
})
