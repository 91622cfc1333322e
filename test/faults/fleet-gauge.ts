import { readFileSync } from 'node:fs'
import type { World } from './world.ts'

export interface FleetFigures {
  /** Of the process that was sampled the longest: resident memory when it was first and last seen (MB). */
  readonly firstRssMb: number | null
  readonly lastRssMb: number | null
  /** Largest of the live workers' own figures (ms). */
  readonly claimP99Ms: number | null
  /** On the server at the end, and how many a worker has at most. */
  readonly connections: number
  readonly connectionsPerWorker: number
}

/** A pool of four for work and one for heartbeats; the ledger's are another account's. */
const connectionsPerWorker = 5

/** What a soak watches beside the promises: memory, connections, claim latency. */
export class FleetGauge {
  private readonly world: World
  private readonly samples = new Map<string, number[]>()

  constructor(world: World) {
    this.world = world
  }

  sample(): Promise<void> {
    for (const { account, process } of this.world.fleet.members) {
      const rss = process.pid === undefined ? undefined : rssMb(process.pid)
      if (rss !== undefined) this.samples.set(account, [...(this.samples.get(account) ?? []), rss])
    }
    return Promise.resolve()
  }

  async read(): Promise<FleetFigures> {
    await this.sample()
    const [longest] = [...this.samples.values()].sort((a, b) => b.length - a.length)
    const latency = await this.world.number(
      "SELECT COALESCE(MAX(claim_p99_ms), -1) AS n FROM taskdeck_worker WHERE status = 'running'"
    )
    const connections = await this.world.number(
      "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE USER LIKE 'w%'"
    )
    return {
      firstRssMb: longest?.[0] ?? null,
      lastRssMb: longest?.at(-1) ?? null,
      claimP99Ms: latency < 0 ? null : Math.round(latency * 10) / 10,
      connections,
      connectionsPerWorker
    }
  }
}

/** Linux only; undefined when the process is gone. */
function rssMb(pid: number): number | undefined {
  try {
    const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Math.round(Number(kb) / 1024)
  } catch {
    return undefined
  }
}
