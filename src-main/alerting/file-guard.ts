import type { AppError } from '../kernel/index.ts'
import { failedFile } from './alert-faults.ts'

/** Stands between what must go on and a file that may fail. */
export class FileGuard {
  private readonly onNotice: (notice: AppError) => void
  private hasFailed = false

  constructor(onNotice: (notice: AppError) => void) {
    this.onNotice = onNotice
  }

  /** For what nobody asked for: a failure of the file is said once, until it works again. */
  quietly(work: () => void): void {
    try {
      work()
      this.hasFailed = false
    } catch (error) {
      const notice = failedFile(error)
      if (!notice) throw error
      if (!this.hasFailed) this.onNotice(notice)
      this.hasFailed = true
    }
  }

  /** For what a user asked for: a failure of the file is the answer. */
  asked<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw failedFile(error) ?? error
    }
  }
}
