import type { Problem } from '../contract/index.ts'
import type { AppError } from '../kernel/index.ts'
import type { AppLog } from './app-log.ts'
import type { EventHub } from './event-hub.ts'
import { toProblem } from './problem.ts'

/** The newest. */
const mostKept = 20

/** What the user should read although nobody asked; kept for pages that open later. */
export class Notices {
  private readonly log: AppLog
  private hub: EventHub | undefined
  private problems: readonly Problem[] = []

  constructor(log: AppLog) {
    this.log = log
  }

  /** The first notices come before there is a hub, and before any page. */
  publishTo(hub: EventHub): void {
    this.hub = hub
  }

  all(): Problem[] {
    return [...this.problems]
  }

  add(error: AppError): void {
    const problem = toProblem(error, this.log)
    this.log.write('warn', `${problem.code}: ${problem.message}`)
    // The same again, from something that fails every minute, does not push out what else there is to read.
    const others = this.problems.filter((one) => one.code !== problem.code || one.message !== problem.message)
    this.problems = [...others, problem].slice(-mostKept)
    this.hub?.publish({ kind: 'notice', problem })
  }
}
