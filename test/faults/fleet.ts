import { spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from 'mysql2/promise'
import { systemClock, withDeadline } from '../../src-main/kernel/index.ts'
import { prepareRecord } from './handler-parts/first-time.ts'
import { TcpProxy } from './tcp-proxy.ts'

const root = join(import.meta.dirname, '../..')
/** What a process is allowed for its start on a busy machine, and for its end beyond its own grace (ms). */
const startDeadlineMs = 90_000
const endMarginMs = 20_000

export interface FleetOptions {
  /** Administrator's session, which a restart of the database replaces: makes one account per process. */
  readonly admin: () => Connection
  readonly server: { readonly host: string; readonly port: number }
  readonly database: string
  readonly ledgerUrl: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly recoverMs: number
  readonly graceMs: number
  /** For the processes' output and histories. */
  readonly folder: string
  /** After `members` has changed. */
  readonly onChange: () => void
  /** An engine broken on purpose (mutants/mutants.ts). */
  readonly mutant: string | null
}

export interface FleetMember {
  readonly account: string
  readonly process: ChildProcess
  /** Its own way to the database. */
  readonly proxy: TcpProxy
  readonly exited: Promise<number | null>
}

/** Real worker processes (`npm run worker` without its set-up), each with a database account and a link of its own. */
export class Fleet {
  /** Those that have started and live. */
  readonly members: FleetMember[] = []
  /** One file a process. */
  readonly histories: string[] = []
  readonly logFile: string
  /** Ends that nobody asked for. */
  readonly unexpectedEnds: string[] = []
  private readonly expected = new Set<string>()
  private readonly everStarted: FleetMember[] = []
  private readonly starting = new Set<Promise<unknown>>()
  private readonly options: FleetOptions
  private accounts = 0
  private stopping = false

  constructor(options: FleetOptions) {
    this.options = options
    this.logFile = join(options.folder, 'workers.log')
    prepareRecord(options.folder)
  }

  /** Resolves when the process says that it has started: a kill before that would prove nothing. */
  add(env: NodeJS.ProcessEnv = {}): Promise<FleetMember> {
    const started = this.start(env)
    this.starting.add(started)
    started.catch(() => undefined).finally(() => this.starting.delete(started))
    return started
  }

  private async start(env: NodeJS.ProcessEnv): Promise<FleetMember> {
    const { member, ready } = await this.spawn(env)
    const early = member.exited.then((code) => {
      // Killed by a signal: the run, or a task that it had taken already, did it.
      if (this.stopping || code === null) return
      throw new Error(`${member.account} ended with ${code} before it had started: see ${this.logFile}`)
    })
    early.catch(() => undefined) // after its start an end is what the run is about
    const late = (): Error => new Error(`${member.account} did not start: see ${this.logFile}`)
    await withDeadline(systemClock, startDeadlineMs, Promise.race([ready, early]), late)
    if (member.process.exitCode === null && member.process.signalCode === null) this.members.push(member)
    this.options.onChange()
    return member
  }

  /** Without waiting for anything but its account. */
  async spawn(env: NodeJS.ProcessEnv = {}): Promise<{ member: FleetMember; ready: Promise<void> }> {
    const account = `w${++this.accounts}`
    const { admin, server, database } = this.options
    await admin().query(`CREATE USER '${account}'@'127.0.0.1' IDENTIFIED BY 'fault-run'`)
    await admin().query(`GRANT SELECT, INSERT, UPDATE, DELETE ON \`${database}\`.* TO '${account}'@'127.0.0.1'`)
    const proxy = await TcpProxy.to(server)
    const child = this.launch(account, proxy, env)
    const ready = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (data: Buffer) => {
          appendFileSync(this.logFile, `${account}: ${data.toString()}`)
          if (data.includes('started with')) resolve()
        })
    })
    const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    const member = { account, process: child, proxy, exited }
    this.everStarted.push(member)
    void exited.then((code) => this.ended(member, code))
    return { member, ready }
  }

  private launch(account: string, proxy: TcpProxy, env: NodeJS.ProcessEnv): ChildProcess {
    const { database, ledgerUrl, concurrency, leaseMs, recoverMs, graceMs, folder, mutant } = this.options
    const history = join(folder, `${account}.jsonl`)
    this.histories.push(history)
    // setpriv replaces itself by the worker, which then also ends when the run itself is killed
    return spawn(
      'setpriv',
      [
        ...['--pdeathsig', 'SIGKILL', process.execPath, '--import', join(import.meta.dirname, 'process/preload.ts')],
        join(root, 'src-main/app/worker-process.ts'),
        ...['--handlers', join(import.meta.dirname, 'handlers'), '--id', account, '--poll-ms', '200'],
        ...['--concurrency', String(concurrency), '--lease-ms', String(leaseMs)],
        ...['--recover-ms', String(recoverMs), '--grace-ms', String(graceMs)]
      ],
      {
        cwd: root,
        env: {
          ...process.env,
          TASKDECK_CONNECTION: `mysql://${account}:fault-run@127.0.0.1:${proxy.port}/${database}`,
          LEDGER_URL: ledgerUrl,
          HISTORY_FILE: history,
          RUN_FOLDER: folder,
          HISTORY_ACCOUNT: account,
          ...(mutant === null ? {} : { MUTANT: mutant }),
          ...env
        },
        stdio: ['ignore', 'pipe', 'pipe']
      }
    )
  }

  private ended(member: FleetMember, code: number | null): void {
    const index = this.members.indexOf(member)
    if (index >= 0) this.members.splice(index, 1)
    this.options.onChange()
    void member.proxy.close()
    // Killed by a signal: by the run, or by itself at a point that a payload names.
    if (code !== null && code !== 0 && !this.expected.has(member.account))
      this.unexpectedEnds.push(`${member.account} ended with ${code}`)
  }

  /** So many live members again; dead ones are replaced by new processes with new accounts. */
  async refill(count: number): Promise<void> {
    if (this.stopping) return
    const missing = count - this.members.length - this.starting.size
    await Promise.all(Array.from({ length: Math.max(0, missing) }, () => this.add()))
  }

  async kill9(member: FleetMember): Promise<void> {
    member.process.kill('SIGKILL')
    await member.exited
  }

  /** How long it took, and whether it had to be killed. */
  async terminate(member: FleetMember): Promise<{ ms: number; killed: boolean }> {
    this.expected.add(member.account)
    const began = performance.now()
    const limit = this.options.graceMs + endMarginMs
    member.process.kill('SIGTERM')
    let killed = false
    const timer = setTimeout(() => {
      killed = true
      member.process.kill('SIGKILL')
    }, limit)
    await member.exited
    clearTimeout(timer)
    return { ms: performance.now() - began, killed }
  }

  /** SIGTERM to all. Returns how many had to be killed. */
  async stop(): Promise<number> {
    this.stopping = true
    await Promise.allSettled(this.starting)
    const left = this.everStarted.filter(({ process: child }) => child.exitCode === null && child.signalCode === null)
    for (const member of left) member.process.kill('SIGCONT')
    const ends = await Promise.all(left.map((member) => this.terminate(member)))
    return ends.filter(({ killed }) => killed).length
  }
}
