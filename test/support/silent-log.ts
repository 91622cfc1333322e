import type { AppLog } from '../../src-main/app/app-log.ts'

/** Writes nothing and hides nothing. */
export const silentLog: AppLog = {
  write: () => undefined,
  bug: () => 'reference',
  hide: () => undefined,
  maskWith: () => undefined,
  redact: (text) => text
}
