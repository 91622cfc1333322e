/*
 * The layers of the product; `npm run layers` checks them and plants violations to see that each rule still bites. Patterns end
 * in a place where nothing else can begin, and packages are matched below any node_modules, because the planted tree lies elsewhere.
 */

/** Rooms and what each may reach. Read as: from -> allowed rooms. */
const rooms = {
  contract: ['kernel'],
  kernel: [],
  queue: ['kernel'],
  connections: ['kernel'],
  'schema-profiles': ['kernel'],
  monitoring: ['kernel', 'connections', 'schema-profiles'],
  alerting: ['kernel', 'sqlite-file'],
  'sqlite-file': ['kernel'],
  history: ['kernel', 'sqlite-file'],
  audit: ['kernel', 'sqlite-file'],
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
  shells: ['contract', 'kernel', 'app'],
  // what services import: the third way in, without a page (docs/decisions/0010)
  package: ['kernel', 'queue', 'connections', 'app']
}
const roomRules = Object.entries(rooms).map(([room, allowed]) => ({
  name: `room-${room}`,
  severity: 'error',
  from: { path: `^src-main/${room}/` },
  to: { path: '^src-(main|renderer)/', pathNot: `^src-main/(${[room, ...allowed].join('|')})/` }
}))

const packages = (...names) => `(^|/)(node_modules/)?(@types/)?(${names.join('|')})(/|$)`

/** A package (or Node module) that only the named folders may import. */
const onlyIn = ({ name, what, folders }) => ({
  name,
  severity: 'error',
  from: { path: '^src-(main|renderer)/', pathNot: `^src-main/(${folders})/` },
  to: { path: packages(what), dependencyTypesNot: ['local', 'aliased-tsconfig'] }
})

module.exports = {
  forbidden: [
    ...roomRules,
    {
      name: 'every-file-has-a-room',
      comment: 'A new room is listed above with what it may reach, and in the architecture page.',
      severity: 'error',
      from: { path: '^src-main/', pathNot: `^src-main/(${Object.keys(rooms).join('|')})/` },
      to: {}
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'resolvable',
      comment: 'What is not resolved is not checked. Vite answers the names with a query and its virtual modules.',
      severity: 'error',
      from: { path: '^src-(main|renderer)/' },
      to: { couldNotResolve: true, pathNot: '[?](raw|url|inline|nodeWorker|modulePath|asset)$|^virtual:|^@intlify/' }
    },
    {
      name: 'shells-are-siblings',
      severity: 'error',
      from: { path: '^src-main/shells/([^/]+)/' },
      to: { path: '^src-main/shells/', pathNot: '^src-main/shells/$1/' }
    },
    {
      name: 'store-adapters-are-siblings',
      severity: 'error',
      from: { path: '^src-main/queue/(store-[^/]+)/' },
      to: { path: '^src-main/queue/(store-|pool/)', pathNot: '^src-main/queue/$1/' }
    },
    onlyIn({ name: 'electron-only-in-its-shell', what: 'electron', folders: 'shells/electron' }),
    {
      name: 'queue-never-reaches-electron',
      severity: 'error',
      from: { path: '^src-main/(queue/|package/|app/worker-process[.])' },
      to: { path: packages('electron'), reachable: true }
    },
    // The MySQL store speaks through the kernel's SqlDatabase, which connections implements.
    onlyIn({ name: 'mysql2-only-in-connections', what: 'mysql2', folders: 'connections' }),
    onlyIn({ name: 'ssh2-only-in-connections', what: 'ssh2', folders: 'connections' }),
    onlyIn({
      name: 'sqlite-only-in-its-adapters',
      what: 'better-sqlite3',
      folders: 'queue/store-sqlite|sqlite-file|history|audit|alerting'
    }),
    {
      name: 'package-without-shells-and-procedures',
      comment: 'A service gets no page, no procedures, and of the app only how it opens queues.',
      severity: 'error',
      from: { path: '^src-main/package/', pathNot: '[.]test[.]ts$' },
      to: { path: '^src-main/(shells/|app/(router/|index[.]|create-app[.]))', reachable: true }
    },
    onlyIn({ name: 'prometheus-only-in-metrics', what: 'prom-client', folders: 'queue/metrics' }),
    onlyIn({ name: 'web-server-only-in-its-shell', what: 'ws', folders: 'shells/server' }),
    {
      name: 'renderer-sees-only-contract',
      severity: 'error',
      from: { path: '^src-renderer/' },
      to: { path: '^src-main/', pathNot: '^src-main/contract/' }
    },
    {
      name: 'renderer-shared-is-a-leaf',
      severity: 'error',
      from: { path: '^src-renderer/shared/' },
      to: { path: '^src-renderer/(app|features|transport)/' }
    },
    {
      name: 'renderer-transport-knows-no-page',
      severity: 'error',
      from: { path: '^src-renderer/transport/' },
      to: { path: '^src-renderer/(app|features)/' }
    },
    {
      name: 'feature-isolation',
      severity: 'error',
      from: { path: '^src-renderer/features/([^/]+)/' },
      to: { path: '^src-renderer/(features|app)/', pathNot: '^src-renderer/features/$1/' }
    },
    {
      name: 'kernel-is-portable',
      comment: 'The kernel also runs in the page: no Node, no package but zod.',
      severity: 'error',
      from: { path: '^src-main/kernel/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'], pathNot: packages('zod') }
    },
    {
      name: 'contract-is-portable',
      severity: 'error',
      from: { path: '^src-main/contract/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'], pathNot: packages('zod', '@orpc/contract') }
    },
    {
      name: 'no-node-in-renderer',
      severity: 'error',
      from: { path: '^src-renderer/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core'] }
    },
    {
      name: 'no-server-packages-in-renderer',
      severity: 'error',
      from: { path: '^src-renderer/', pathNot: '[.]test[.]ts$' },
      to: { path: packages('@orpc/server', 'kysely', 'jiti', 'csv-parse', 'yauzl', 'sax') }
    }
  ],
  options: {
    // the one with the page's aliases: an import that cannot be resolved would not be checked
    tsConfig: { fileName: 'tsconfig.web.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types']
    }
  }
}
