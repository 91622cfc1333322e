/** Rooms and what each may reach. Read as: from -> allowed rooms. */
const rooms = {
  contract: ['kernel'],
  kernel: [],
  queue: ['kernel'],
  connections: ['kernel'],
  'schema-profiles': ['kernel'],
  monitoring: ['kernel', 'connections', 'schema-profiles'],
  alerting: ['kernel'],
  history: ['kernel'],
  audit: ['kernel'],
  operations: ['kernel', 'queue', 'connections', 'schema-profiles', 'audit'],
  app: [
    'contract',
    'kernel',
    'queue',
    'connections',
    'schema-profiles',
    'monitoring',
    'alerting',
    'history',
    'audit',
    'operations'
  ],
  shells: ['contract', 'kernel', 'app']
}
const roomRules = Object.entries(rooms).map(([room, allowed]) => ({
  name: `room-${room}`,
  severity: 'error',
  from: { path: `^src-main/${room}/` },
  to: { path: '^src-(main|renderer)/', pathNot: `^src-main/(${[room, ...allowed].join('|')})/` }
}))
module.exports = {
  forbidden: [
    ...roomRules,
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shells-are-siblings',
      severity: 'error',
      from: { path: '^src-main/shells/([^/]+)/' },
      to: { path: '^src-main/shells/', pathNot: '^src-main/shells/$1/' }
    },
    {
      name: 'electron-only-in-electron-shell',
      severity: 'error',
      from: { path: '^src-main/', pathNot: '^src-main/shells/electron/' },
      to: { path: '^(node_modules/)?electron(/|$)' }
    },
    {
      name: 'queue-never-reaches-electron',
      severity: 'error',
      from: { path: '^src-main/queue/' },
      to: { path: '^(node_modules/)?electron(/|$)', reachable: true }
    },
    {
      name: 'drivers-only-in-adapters',
      severity: 'error',
      from: { path: '^src-main/', pathNot: '^src-main/(queue/store-(mysql|sqlite)|connections|history|audit)/' },
      to: { path: '(^|/)(mysql2|better-sqlite3|ssh2)(/|$)' }
    },
    {
      name: 'renderer-sees-only-contract',
      severity: 'error',
      from: { path: '^src-renderer/' },
      to: { path: '^src-main/', pathNot: '^src-main/contract/' }
    },
    {
      name: 'shared-is-a-leaf',
      severity: 'error',
      from: { path: '^src-renderer/shared/' },
      to: { path: '^src-renderer/(app|features|transport)/' }
    },
    {
      name: 'feature-isolation',
      severity: 'error',
      from: { path: '^src-renderer/features/([^/]+)/' },
      to: { path: '^src-renderer/(features|app)/', pathNot: '^src-renderer/features/$1/' }
    },
    {
      name: 'contract-and-kernel-are-portable',
      severity: 'error',
      from: { path: '^src-main/(contract|kernel)/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'], pathNot: '(^|/)zod(/|$)' }
    },
    {
      name: 'no-node-in-renderer',
      severity: 'error',
      from: { path: '^src-renderer/' },
      to: { dependencyTypes: ['core'] }
    }
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' }
  }
}
