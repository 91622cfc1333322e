import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { cpuMsOf } from './cpu-time.ts'
import type { FromProcess, ToProcess } from './protocol.ts'

const answerMs = 60_000
/** Without any task done for this long a run is broken. */
const stalledMs = 60_000

export interface ProcessOptions {
  /** In this folder. */
  readonly file: string
  readonly args?: readonly string[]
  /** mysql:// address of the queue. */
  readonly url: string
  /** A folder for CPU profiles of the processes; empty: none. */
  readonly profileDir: string
}

/** The bench's worker processes, and how many tasks they have done in all. */
export class Processes {
  private readonly children: readonly ChildProcess[]
  private done = 0
  private onProgress: () => void = () => undefined

  private constructor(children: readonly ChildProcess[]) {
    this.children = children
    for (const child of children)
      child.on('message', (message: FromProcess) => {
        if (message.kind !== 'done') return
        this.done += message.count
        this.onProgress()
      })
  }

  static async start(count: number, { file, args = [], url, profileDir }: ProcessOptions): Promise<Processes> {
    const profile = profileDir === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`]
    const children = Array.from({ length: count }, () =>
      fork(join(import.meta.dirname, file), args, {
        execArgv: profile,
        env: { ...process.env, TASKDECK_CONNECTION: url }
      })
    )
    await Promise.all(children.map(ready))
    return new Processes(children)
  }

  /** The first `count` get this mode, the others idle; resolves when all have it. */
  async enter(message: ToProcess, count: number): Promise<void> {
    await Promise.all(
      this.children.map(async (child, index) => {
        const answered = ready(child)
        child.send(index < count ? message : { mode: 'idle' })
        await answered
      })
    )
  }

  /** Runs `submit`, which brings `tasks` tasks, and resolves when all are done; returns tasks a second of both together. */
  async time(tasks: number, submit: () => Promise<void>): Promise<number> {
    const from = performance.now()
    const target = this.done + tasks
    const [seconds] = await Promise.all([this.reach(target).then(() => (performance.now() - from) / 1_000), submit()])
    return tasks / seconds
  }

  /** Tasks done in all. */
  get doneCount(): number {
    return this.done
  }

  /** Milliseconds of CPU that they have used, all together; NaN where the system does not tell. */
  cpuMs(): number {
    return this.children.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.children.map(async (child) => {
        const ended = once(child, 'close')
        child.send({ mode: 'stop' } satisfies ToProcess)
        await ended
      })
    )
  }

  /** When so many tasks have been done in all. One caller at a time. */
  reach(target: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const look = (): void => {
        clearTimeout(timer)
        if (this.done >= target) return resolve()
        timer = setTimeout(() => reject(new Error(`${target - this.done} tasks were not done`)), stalledMs)
      }
      this.onProgress = look
      look()
    })
  }
}

async function ready(child: ChildProcess): Promise<void> {
  const signal = AbortSignal.timeout(answerMs)
  for (;;) {
    const [message] = (await once(child, 'message', { signal })) as [FromProcess]
    if (message.kind === 'ready') return
  }
}
