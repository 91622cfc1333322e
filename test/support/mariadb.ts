import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync
} from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import mysql from 'mysql2/promise'

const host = '127.0.0.1'
const startDeadlineMs = 60_000
const stopDeadlineMs = 15_000

export interface MariaDbOptions {
  /**
   * innodb_flush_log_at_trx_commit. 2 (the default) keeps every commit through a kill of the server process; 1 also
   * syncs to the disk, which benchmarks of durable writes want; 0 loses up to a second of commits in a kill.
   */
  flushAtCommit?: 0 | 1 | 2
  /** The files lie in memory where that has room: they outlive a killed server too, and syncing them costs nothing. */
  inMemory?: boolean
  /** Environment of the server's process beside this one's own, such as a clock of its own. */
  env?: NodeJS.ProcessEnv
  /** More options for mariadbd, such as `--max-connections=20`. */
  serverOptions?: string[]
}

/** A database server for tests: a private one, or the one that TASKDECK_TEST_MYSQL_URL names. */
export interface TestMariaDb {
  /** True when the server was given: it cannot be killed or restarted, and `stop` leaves it running. */
  readonly given: boolean
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  /** The server's process, undefined while it is down or when the server was given. */
  readonly pid: number | undefined
  /** mysql:// address of a database, or of the server when no name is given. */
  url(database?: string): string
  /** Creates an empty database and returns its address. Fails when it exists: a given server may hold other data. */
  createDatabase(name: string): Promise<string>
  /** Kills the server as a crash would and waits until it is gone. */
  kill9(): Promise<void>
  /** Starts the server again on the same port and data; a running one is shut down first. */
  restart(): Promise<void>
  /** Ends the server and removes its files. May be called twice. */
  stop(): Promise<void>
}

/** Starts a private MariaDB as the current user, or wraps the server of TASKDECK_TEST_MYSQL_URL. Takes about 1 s. */
export async function startMariaDb(options: MariaDbOptions = {}): Promise<TestMariaDb> {
  const given = process.env['TASKDECK_TEST_MYSQL_URL']
  return given ? givenServer(given) : startPrivateMariaDb(options)
}

/** Like `startMariaDb`, but always a private server: for tests that kill it. */
export async function startPrivateMariaDb(options: MariaDbOptions = {}): Promise<TestMariaDb> {
  const parent = options.inMemory ? memoryDir() : tmpdir()
  const dir = mkdtempSync(join(parent, 'tdm-')) // short: a socket path has at most 107 characters
  const password = randomBytes(12).toString('hex')
  let server: RunningServer | undefined
  let port: number
  try {
    installSystemTables(dir)
    port = await freePort()
    const init = join(dir, 'init.sql')
    writeFileSync(init, accounts(password), { mode: 0o600 })
    server = await run({ dir, port, args: [...serverOptions(options), `--init-file=${init}`], env: options.env })
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
  const address = { host, port, user: 'test', password }
  return {
    given: false,
    ...address,
    get pid() {
      return server?.pid
    },
    url: (database) => addressUrl(address, database),
    createDatabase: (name) => createDatabase(addressUrl(address), name),
    kill9: async () => {
      await server?.end('SIGKILL')
      server = undefined
    },
    restart: async () => {
      await server?.end('SIGTERM')
      server = undefined
      server = await run({ dir, port, args: serverOptions(options), env: options.env })
    },
    stop: async () => {
      await server?.end('SIGKILL') // its files go with it: nothing is worth an orderly end
      server = undefined
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

export interface TestDatabase {
  name: string
  url: string
  /** Drops the database. */
  drop(): Promise<void>
}

/**
 * An empty database with a name of its own on the server behind `serverUrl` (in a test file: `inject('mariadbUrl')`),
 * so that files and repeated runs never meet.
 */
export async function createTestDatabase(serverUrl: string, prefix = 'taskdeck_test'): Promise<TestDatabase> {
  const name = `${prefix}_${randomBytes(4).toString('hex')}`
  const url = await createDatabase(serverUrl, name)
  return { name, url, drop: () => execute(serverUrl, `DROP DATABASE IF EXISTS \`${name}\``) }
}

function givenServer(text: string): TestMariaDb {
  const url = new URL(text)
  const address = {
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password)
  }
  const refuse = () =>
    Promise.reject(new Error('The server of TASKDECK_TEST_MYSQL_URL is not ours to kill: use startPrivateMariaDb'))
  return {
    given: true,
    ...address,
    pid: undefined,
    url: (database) => addressUrl(address, database),
    createDatabase: (name) => createDatabase(addressUrl(address), name),
    kill9: refuse,
    restart: refuse,
    stop: () => Promise.resolve()
  }
}

interface Address {
  host: string
  port: number
  user: string
  password: string
}

function addressUrl({ host, port, user, password }: Address, database = ''): string {
  return `mysql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/${database}`
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  if (!/^\w{1,64}$/.test(name)) throw new Error(`Not a plain database name: ${name}`)
  await execute(serverUrl, `CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function execute(url: string, statement: string): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 10_000 })
  try {
    await connection.query(statement)
  } finally {
    await connection.end()
  }
}

function accounts(password: string): string {
  return [
    `CREATE USER 'test'@'127.0.0.1' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO 'test'@'127.0.0.1' WITH GRANT OPTION;`,
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${password}';`
  ].join('\n')
}

function serverOptions({ flushAtCommit = 2, serverOptions: more = [] }: MariaDbOptions): string[] {
  return [
    '--skip-name-resolve',
    '--skip-log-bin',
    '--innodb-buffer-pool-size=64M',
    '--innodb-log-file-size=32M',
    `--innodb-flush-log-at-trx-commit=${flushAtCommit}`,
    '--character-set-server=utf8mb4',
    ...more
  ]
}

/** What a server with a run's data may take (bytes). A container's shared memory has often 64 MB. */
const roomForServer = 2 * 1024 ** 3

/** Where files outlive a killed process and syncing costs nothing; the folder for temporary files where that has no room. */
function memoryDir(): string {
  const memory = '/dev/shm'
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= roomForServer ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

function installSystemTables(dir: string): void {
  const install = spawnSync(
    installedTool('mariadb-install-db'),
    [
      '--no-defaults', // not /etc/mysql
      `--user=${userInfo().username}`,
      `--datadir=${join(dir, 'data')}`,
      `--tmpdir=${dir}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve'
    ],
    { encoding: 'utf8', cwd: dir, timeout: startDeadlineMs }
  )
  if (install.status !== 0) throw new Error(`mariadb-install-db: ${install.stdout}${install.stderr}`)
}

interface RunningServer {
  readonly pid: number
  /** Sends the signal, waits for the end, and kills a server that takes too long. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

interface Launch {
  readonly dir: string
  readonly port: number
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv | undefined
}

async function run({ dir, port, args: more, env }: Launch): Promise<RunningServer> {
  const args = [
    '--no-defaults',
    `--user=${userInfo().username}`,
    `--datadir=${join(dir, 'data')}`,
    `--tmpdir=${dir}`,
    `--socket=${join(dir, 's')}`,
    `--pid-file=${join(dir, 'pid')}`,
    `--bind-address=${host}`,
    `--port=${port}`,
    ...more
  ]
  const log = join(dir, 'server.log')
  const logFile = openSync(log, 'a')
  // setpriv replaces itself by the server, which then also ends when the test process is killed outright
  const child = spawn('setpriv', ['--pdeathsig', 'SIGKILL', installedTool('mariadbd'), ...args], {
    stdio: ['ignore', logFile, logFile],
    cwd: dir,
    env: { ...process.env, ...env }
  })
  closeSync(logFile)
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', (error) => {
      writeFileSync(log, String(error), { flag: 'a' })
      resolve()
    })
  })
  let running = true
  void ended.then(() => (running = false))
  const killWithProcess = () => child.kill('SIGKILL')
  process.once('exit', killWithProcess)

  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (running) {
      child.kill(signal)
      const late = delay(stopDeadlineMs, 'late', { ref: false })
      if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL')
      await ended
    }
    process.removeListener('exit', killWithProcess)
  }
  for (const deadline = Date.now() + startDeadlineMs; ; await delay(25)) {
    if (running && child.pid && (await greets(port))) return { pid: child.pid, end }
    if (!running || Date.now() > deadline) {
      await end('SIGKILL')
      throw new Error(`mariadbd did not start:\n${readFileSync(log, 'utf8')}`)
    }
  }
}

/** Whether a database server sends its greeting on this port. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    socket.setTimeout(1000, () => socket.destroy())
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
    socket.once('data', () => {
      resolve(true)
      socket.destroy()
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function installedTool(name: string): string {
  const found = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
  if (!found) throw new Error(`${name} is not installed: apt-get install mariadb-server-core mariadb-client-core`)
  return found
}
