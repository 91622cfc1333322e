/*
 * `npm run layers`: no import crosses the layers of .dependency-cruiser.cjs. Then a canary: a small tree with one planted
 * violation for every rule, in .ts and .vue files, where each has to be reported. A rule that silently sees nothing (an alias
 * that is not resolved, .vue files without their compiler) would otherwise look like a clean tree.
 */
import { createRequire } from 'node:module'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SetupError, ensureDependencies, root, run, runCommand, toolEnv, toolNode, toolScript } from './setup.mjs'

const config = join(root, '.dependency-cruiser.cjs')
const vue = (code) => `<script setup lang="ts">\n${code}\n</script>\n<template><p /></template>\n`

/** What planted imports point at, so that they resolve. */
const targets = [
  'src-main/kernel/index.ts',
  'src-main/contract/index.ts',
  'src-main/queue/index.ts',
  'src-main/queue/store-mysql/index.ts',
  'src-main/operations/index.ts',
  'src-main/history/index.ts',
  'src-main/monitoring/index.ts',
  'src-main/shells/server/index.ts',
  'src-renderer/app/index.ts',
  'src-renderer/features/tasks/index.ts'
]

/** [file, code, rule that must report it]. */
const planted = [
  ['src-main/kernel/reaches-out.ts', `import '../queue/index.ts'`, 'room-kernel'],
  ['src-main/kernel/reads-files.ts', `import { readFileSync } from 'node:fs'\nreadFileSync`, 'kernel-is-portable'],
  ['src-main/kernel/draws.ts', `import { ref } from 'vue'\nref`, 'kernel-is-portable'],
  ['src-main/contract/reaches-out.ts', `import '../queue/index.ts'`, 'room-contract'],
  [
    'src-main/contract/serves.ts',
    `import type { Router } from '@orpc/server'\nexport type R = Router<never, never>`,
    'contract-is-portable'
  ],
  [
    'src-main/queue/reaches-out.ts',
    `import type * as c from '../contract/index.ts'\nexport type C = typeof c`,
    'room-queue'
  ],
  ['src-main/queue/opens-window.ts', `import '../shells/electron/window.ts'`, 'queue-never-reaches-electron'],
  ['src-main/queue/store-mysql/drives.ts', `import mysql from 'mysql2/promise'\nmysql`, 'mysql2-only-in-connections'],
  [
    'src-main/queue/store-mysql/types.ts',
    `import type { Pool } from 'mysql2'\nexport type P = Pool`,
    'mysql2-only-in-connections'
  ],
  ['src-main/queue/store-mysql/drives-sqlite.ts', `import D from 'better-sqlite3'\nD`, 'sqlite-only-in-its-adapters'],
  ['src-main/queue/store-sqlite/index.ts', `import '../store-mysql/index.ts'`, 'store-adapters-are-siblings'],
  ['src-main/queue/tunnels.ts', `import { Client } from 'ssh2'\nClient`, 'ssh2-only-in-connections'],
  ['src-main/connections/reaches-out.ts', `import '../queue/index.ts'`, 'room-connections'],
  ['src-main/schema-profiles/reaches-out.ts', `import '../queue/index.ts'`, 'room-schema-profiles'],
  ['src-main/monitoring/reaches-out.ts', `import '../operations/index.ts'`, 'room-monitoring'],
  ['src-main/alerting/reaches-out.ts', `import '../monitoring/index.ts'`, 'room-alerting'],
  ['src-main/sqlite-file/reaches-out.ts', `import '../history/index.ts'`, 'room-sqlite-file'],
  ['src-main/history/reaches-out.ts', `import '../monitoring/index.ts'`, 'room-history'],
  ['src-main/audit/reaches-out.ts', `import '../operations/index.ts'`, 'room-audit'],
  ['src-main/operations/reaches-out.ts', `import '../contract/index.ts'`, 'room-operations'],
  ['src-main/app/reaches-out.ts', `import '../shells/server/index.ts'`, 'room-app'],
  ['src-main/app/opens-window.ts', `import { app } from 'electron'\napp`, 'electron-only-in-its-shell'],
  ['src-main/app/listens.ts', `import { WebSocketServer } from 'ws'\nWebSocketServer`, 'web-server-only-in-its-shell'],
  ['src-main/queue/counts.ts', `import { Counter } from 'prom-client'\nCounter`, 'prometheus-only-in-metrics'],
  ['src-main/package/reaches-out.ts', `import '../history/index.ts'`, 'room-package'],
  ['src-main/package/serves.ts', `import '../app/create-app.ts'`, 'package-without-shells-and-procedures'],
  ['src-main/app/create-app.ts', 'export {}', undefined],
  ['src-main/helpers/anything.ts', `import '../kernel/index.ts'`, 'every-file-has-a-room'],
  ['src-main/shells/electron/window.ts', `import { app } from 'electron'\napp`, undefined],
  ['src-main/shells/electron/borrows.ts', `import '../server/index.ts'`, 'shells-are-siblings'],
  ['src-main/shells/server/reaches-in.ts', `import '../../queue/index.ts'`, 'room-shells'],
  ['src-main/app/one.ts', `import './two.ts'`, 'no-circular'],
  ['src-main/app/two.ts', `import './one.ts'`, undefined],
  ['src-main/app/misses.ts', `import './not-there.ts'`, 'resolvable'],
  [
    'src-renderer/features/overview/Kernel.vue',
    vue(`import '../../../src-main/kernel/index.ts'`),
    'renderer-sees-only-contract'
  ],
  [
    'src-renderer/features/overview/KernelType.vue',
    vue(`import type * as k from '../../../src-main/kernel/index.ts'\nexport type K = typeof k`),
    'renderer-sees-only-contract'
  ],
  [
    'src-renderer/features/overview/kernel.ts',
    `import '../../../src-main/kernel/index.ts'`,
    'renderer-sees-only-contract'
  ],
  ['src-renderer/features/overview/Other.vue', vue(`import '../tasks/index.ts'`), 'feature-isolation'],
  ['src-renderer/features/overview/Aliased.vue', vue(`import '@/features/tasks/index.ts'`), 'feature-isolation'],
  ['src-renderer/features/overview/aliased.ts', `import '@/app/index.ts'`, 'feature-isolation'],
  [
    'src-renderer/features/overview/Files.vue',
    vue(`import { readFileSync } from 'node:fs'\nreadFileSync`),
    'no-node-in-renderer'
  ],
  [
    'src-renderer/features/overview/server.ts',
    `import { os } from '@orpc/server'\nos`,
    'no-server-packages-in-renderer'
  ],
  [
    'src-renderer/features/overview/Electron.vue',
    vue(`import { ipcRenderer } from 'electron'\nipcRenderer`),
    'electron-only-in-its-shell'
  ],
  ['src-renderer/shared/ui/Knows.vue', vue(`import '@/features/tasks/index.ts'`), 'renderer-shared-is-a-leaf'],
  ['src-renderer/transport/knows.ts', `import '@/app/index.ts'`, 'renderer-transport-knows-no-page'],
  // what must stay allowed: a rule that reports everything is no better
  ['src-renderer/features/tasks/Allowed.vue', vue(`import '@contract'\nimport '@/shared/ui/allowed.ts'`), undefined],
  ['src-renderer/shared/ui/allowed.ts', 'export {}', undefined]
]

await runCommand(async () => {
  await ensureDependencies()
  const { code, output } = await cruise(root, 'err')
  console.log(output.trim())
  const problems = await canary()
  if (problems.length > 0) throw new SetupError(`the canary sings:\n  ${problems.join('\n  ')}`)
  console.log(`canary: ${planted.filter(([, , rule]) => rule).length} planted violations reported`)
  if (code !== 0) throw new SetupError('an import crosses the layers (see above).')
  return 0
})

function cruise(cwd, outputType) {
  const args = [toolScript('dependency-cruiser', 'depcruise'), '--config', config, '--output-type', outputType]
  return run(toolNode(), [...args, 'src-main', 'src-renderer'], { cwd, env: toolEnv(), deadlineMs: 120_000 })
}

async function canary() {
  mkdirSync(join(root, '.cache'), { recursive: true })
  // below the project, so that packages resolve
  const tree = mkdtempSync(join(root, '.cache/layers-canary-'))
  try {
    for (const file of ['package.json', 'tsconfig.base.json', 'tsconfig.web.json'])
      cpSync(join(root, file), join(tree, file))
    for (const file of targets) plant(tree, file, 'export {}\n')
    for (const [file, code] of planted) plant(tree, file, code)
    const { output } = await cruise(tree, 'json')
    return compare(JSON.parse(output).summary.violations.map(({ from, rule }) => `${from}: ${rule.name}`))
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

function plant(tree, file, code) {
  mkdirSync(dirname(join(tree, file)), { recursive: true })
  writeFileSync(join(tree, file), code)
}

function compare(reported) {
  const wanted = planted.filter(([, , rule]) => rule).map(([file, , rule]) => `${file}: ${rule}`)
  const { forbidden } = createRequire(import.meta.url)(config)
  const clean = planted.filter(([, , rule]) => rule === undefined).map(([file]) => file)
  return [
    ...wanted.filter((line) => !reported.includes(line)).map((line) => `not reported: ${line}`),
    ...forbidden
      .filter((rule) => !planted.some(([, , name]) => name === rule.name))
      .map((rule) => `no planted violation for the rule ${rule.name}`),
    ...reported
      .filter((line) => /\/[Aa]llowed\./.test(line) && clean.some((file) => line.startsWith(`${file}:`)))
      .map((line) => `reported though allowed: ${line}`)
  ]
}
