import { spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from 'mysql2/promise'
import { systemClock, withDeadline } from '../../src-main/kernel/index.ts'

const root = join(import.meta.dirname, '../..')

export interface FleetOptions {
  /** Administrator's session: makes one account per process. */
  readonly admin: Connection
  readonly host: string
  readonly port: number
  readonly database: string
  readonly ledgerUrl: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly recoverMs: number
  /** All processes' output is added to this file. */
  readonly log: string
}

export interface FleetMember {
  readonly account: string
  readonly process: ChildProcess
  readonly exited: Promise<number | null>
}

/** Real worker processes (`npm run worker` without its set-up), each under a database account of its own. */
export class Fleet {
  /** Those that have started and live. */
  readonly members: FleetMember[] = []
  private readonly starting = new Set<Promise<void>>()
  private accounts = 0
  private options: FleetOptions

  constructor(options: FleetOptions) {
    this.options = options
  }

  /** After a restart of the database the old session is gone. */
  useAdmin(admin: Connection): void {
    this.options = { ...this.options, admin }
  }

  /** Resolves when the process says that it has started: a kill before that would prove nothing. */
  add(): Promise<void> {
    const started = this.start()
    this.starting.add(started)
    return started.finally(() => this.starting.delete(started))
  }

  private async start(): Promise<void> {
    const { admin, host, port, database, ledgerUrl, concurrency, leaseMs, recoverMs, log } = this.options
    const account = `w${++this.accounts}`
    await admin.query(`CREATE USER '${account}'@'127.0.0.1' IDENTIFIED BY 'fault-run'`)
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON \`${database}\`.* TO '${account}'@'127.0.0.1'`)
    const child = spawn(
      process.execPath,
      [
        join(root, 'src-main/app/worker-process.ts'),
        '--handlers',
        join(import.meta.dirname, 'handlers'),
        ...['--concurrency', String(concurrency), '--lease-ms', String(leaseMs), '--recover-ms', String(recoverMs)],
        ...['--poll-ms', '200', '--id', account]
      ],
      {
        cwd: root,
        env: {
          ...process.env,
          TASKDECK_CONNECTION: `mysql://${account}:fault-run@${host}:${port}/${database}`,
          LEDGER_URL: ledgerUrl
        },
        stdio: ['ignore', 'pipe', 'pipe']
      }
    )
    const ready = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => {
          appendFileSync(log, `${account}: ${data.toString()}`)
          if (data.includes('started with')) resolve()
        })
    })
    const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    const early = exited.then((code) =>
      Promise.reject(new Error(`${account} ended with ${code} before it had started: see ${log}`))
    )
    early.catch(() => undefined) // after its start an end is what the run is about
    await withDeadline(
      systemClock,
      60_000,
      Promise.race([ready, early]),
      () => new Error(`${account} did not start: see ${log}`)
    )
    const member = { account, process: child, exited }
    this.members.push(member)
    void exited.then(() => this.members.splice(this.members.indexOf(member), 1))
  }

  async kill9(member: FleetMember): Promise<void> {
    member.process.kill('SIGKILL')
    await member.exited
  }

  /** SIGTERM to all; SIGKILL to what is left after `graceMs`. Returns how many had to be killed. */
  async stop(graceMs: number): Promise<number> {
    await Promise.allSettled(this.starting)
    const left = [...this.members]
    for (const member of left) member.process.kill('SIGCONT')
    for (const member of left) member.process.kill('SIGTERM')
    const timer = setTimeout(() => left.forEach((member) => member.process.kill('SIGKILL')), graceMs)
    const codes = await Promise.all(left.map((member) => member.exited))
    clearTimeout(timer)
    return codes.filter((code) => code === null).length
  }
}
