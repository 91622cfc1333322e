import type { AppError } from '../kernel/index.ts'
import { failedFile } from './alert-faults.ts'

/** Stands between what must go on and a file that may fail. */
export class FileGuard {
  private readonly onNotice: (notice: AppError) => void
  private hasFailed = false

  constructor(onNotice: (notice: AppError) => void) {
    this.onNotice = onNotice
  }

  /** For a write that nobody asked for: a failure of the file is said once, until one succeeds again. */
  quietly(work: () => void): void {
    try {
      work()
      this.hasFailed = false
    } catch (error) {
      this.sayOnce(error)
    }
  }

  /** For a read that something must go on without. A file that can be read may still be full: what failed stays said. */
  readOr<T>(fallback: T, work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.sayOnce(error)
      return fallback
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

  private sayOnce(error: unknown): void {
    const notice = failedFile(error)
    if (!notice) throw error
    if (!this.hasFailed) this.onNotice(notice)
    this.hasFailed = true
  }
}
