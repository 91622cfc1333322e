import type { Problem } from '../contract/index.ts'
import type { AppError } from '../kernel/index.ts'
import type { AppLog } from './app-log.ts'
import type { EventHub } from './event-hub.ts'
import { toProblem } from './problem.ts'

const mostKept = 20

/** What the user should read although nobody asked; kept for pages that open later. */
export class Notices {
  private readonly log: AppLog
  private hub: EventHub | undefined
  private readonly problems: Problem[] = []

  constructor(log: AppLog) {
    this.log = log
  }

  /** The first notices come before there is a hub, and before any page. */
  publishTo(hub: EventHub): void {
    this.hub = hub
  }

  all(): Problem[] {
    return this.problems
  }

  add(error: AppError): void {
    const problem = toProblem(error, this.log)
    this.log.write('warn', `${problem.code}: ${problem.message}`)
    if (this.problems.length < mostKept) this.problems.push(problem)
    this.hub?.publish({ kind: 'notice', problem })
  }
}
