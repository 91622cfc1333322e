/* `npm run bench -- NAME ...` and `npm run faults -- [NAME] ...`: runs test/bench/NAME.ts or test/faults/NAME.ts with Node 24. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { electronForTests } from './electron-for-tests.mjs'
import {
  SetupError,
  ensureBuild,
  ensureDependencies,
  root,
  runCommand,
  supervise,
  toolEnv,
  toolNode
} from './setup.mjs'
import { ensureSystemPackages } from './system-packages.mjs'

await runCommand(async () => {
  const [kind, ...given] = process.argv.slice(2)
  const { name, args } = commandOf(kind, given)
  const folder = join(root, 'test', kind)
  const names = commandsIn(kind, folder)
  if (!names.includes(name))
    throw new SetupError(
      `${name ? `There is no ${kind} "${name}".` : `Which one?`}\nUsage: npm run ${kind} -- ${names.join('|')} [--json]`,
      { exitCode: 2 }
    )
  const inWindow = kind === 'bench' && name === 'app'
  await ensureSystemPackages(packagesFor(kind, inWindow))
  await ensureDependencies()
  await ensureBuild()
  // Worker processes start from the sources, many in a fault run: compiled once, a start costs half.
  const env = toolEnv({
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
    ...(inWindow ? await electronForTests() : {})
  })
  const command = [toolNode(), join(folder, `${name}.ts`), ...args]
  const [program, ...rest] = inWindow && process.platform === 'linux' ? ['xvfb-run', '-a', ...command] : command
  return supervise(program, rest, { env })
})

function packagesFor(kind, inWindow) {
  if (kind === 'faults') return ['mariadb', 'clocks']
  return inWindow ? ['compiler', 'browsers'] : ['mariadb']
}

/** Without a name the whole fault matrix runs. */
function commandOf(kind, [first, ...rest]) {
  const isName = first !== undefined && !first.startsWith('-')
  if (isName || kind !== 'faults') return { name: first, args: rest }
  return { name: 'matrix', args: first === undefined ? [] : [first, ...rest] }
}

/** The files that end in a report; those beside them are their parts. */
function commandsIn(kind, folder) {
  if (!existsSync(folder)) return []
  const ending = kind === 'faults' ? /^await faultCommand\(/m : /^\s*finish\(/m
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => ending.test(readFileSync(join(folder, file), 'utf8')))
    .map((file) => basename(file, '.ts'))
}
