/*
 * Builds what `import 'taskdeck'` is in a service, and the command `taskdeck`: out/package with three entries and the declarations of one.
 * Run by `npm run build` and, before packing, by npm itself. Packages stay outside, so a service has one copy of zod and of the drivers.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, cpSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'vite'
import { SetupError, root, run, runCommand, toolEnv, toolNode, toolScript } from './setup.mjs'

const outDir = join(root, 'out/package')
/** Below it, the declarations lie as the sources do. */
const typesDir = join(outDir, 'types')
const typesEntry = 'package/index.d.ts'

await runCommand(async () => {
  rmSync(outDir, { recursive: true, force: true })
  await buildCode()
  await buildTypes()
  return 0
})

function buildCode() {
  return build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: true,
      ssr: true,
      target: 'node20.18',
      sourcemap: false,
      minify: false,
      rolldownOptions: {
        input: {
          index: join(root, 'src-main/package/index.ts'),
          taskdeck: join(root, 'src-main/package/command.ts'),
          'handler-thread': join(root, 'src-main/queue/pool/handler-thread.ts')
        },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js' }
      }
    },
    ssr: { noExternal: [] }
  })
}

/** The compiler writes a declaration for each file of the program; those that no declaration leads to are left out again. */
async function buildTypes() {
  const everything = join(root, '.cache/package-types')
  rmSync(everything, { recursive: true, force: true })
  const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', everything]
  const base = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2024', '--types', 'node']
  const rest = ['--strict', '--noCheck', '--skipLibCheck', '--erasableSyntaxOnly', '--rewriteRelativeImportExtensions']
  const args = [...base, ...rest, ...options, '--rootDir', 'src-main', 'src-main/package/index.ts']
  const { code, output } = await run(toolNode(), [toolScript('typescript', 'tsc'), ...args], {
    env: toolEnv(),
    deadlineMs: 120_000
  })
  if (code !== 0) throw new SetupError('the declarations of the package could not be written (see above).', { output })
  for (const file of reachable(everything, join(everything, typesEntry))) {
    const target = join(typesDir, relative(everything, file))
    mkdirSync(dirname(target), { recursive: true })
    cpSync(file, target)
  }
  rmSync(everything, { recursive: true, force: true })
}

function reachable(base, entry, found = new Set()) {
  if (found.has(entry)) return found
  if (!existsSync(entry))
    throw new SetupError(`the package's types lead to ${relative(base, entry)}, which is missing.`)
  found.add(entry)
  for (const [, , target] of readFileSync(entry, 'utf8').matchAll(/(from|import\()\s*['"](\.[^'"]+)['"]/g))
    reachable(base, join(dirname(entry), target.replace(/\.[jt]s$/, '.d.ts')), found)
  return found
}
