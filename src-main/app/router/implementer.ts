import { implement } from '@orpc/server'
import { contract } from '../../contract/index.ts'
import type { AppLog } from '../app-log.ts'
import { isAbort, toWireError } from '../problem.ts'

/** The contract's procedures, each behind the one place where errors become what a page may see. */
export function createImplementer(log: AppLog, validateOutputs: boolean) {
  // Outputs come from our own code: checking them is for development and tests.
  const checks = validateOutputs ? {} : { initialOutputValidationIndex: Number.NaN }
  return implement(contract)
    .$config(checks)
    .use(async ({ next, signal }) => {
      try {
        return await next()
      } catch (error) {
        throw isAbort(error, signal) ? error : toWireError(error, log)
      }
    })
}
export type Implementer = ReturnType<typeof createImplementer>

/** The same for what a stream throws after its procedure has returned. An abort ends it quietly. */
export async function* guarded<T>(
  stream: AsyncIterable<T>,
  log: AppLog,
  signal?: AbortSignal
): AsyncGenerator<T, void> {
  try {
    yield* stream
  } catch (error) {
    if (!isAbort(error, signal)) throw toWireError(error, log)
  }
}
