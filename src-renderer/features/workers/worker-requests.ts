import type { ConnectionView, WorkerRow } from '@contract'
import type { WorkerView } from './worker-health.ts'

/** What an operator may ask of a worker; `wake` takes back what was asked. */
export const askings = ['quiet', 'wake', 'stop'] as const
export type Asking = (typeof askings)[number]

export const requestOf = { quiet: 'QUIET', wake: null, stop: 'STOP' } as const

/** What was asked of a worker that has not followed yet; null when it has. One that ends or has ended does not turn back. */
export function openAsking({ status, request }: WorkerRow): Asking | null {
  if (status === 'stopping' || status === 'stopped') return null
  if (request === 'STOP') return 'stop'
  if (request === 'QUIET') return status === 'quiet' ? null : 'quiet'
  return status === 'quiet' ? 'wake' : null
}

/** Why a worker cannot be asked; a key below `workers.off`. */
export type AskingBlock = 'offline' | 'readOnly' | 'stopped' | 'stopping' | 'asked' | 'stopAsked' | 'quiet' | 'awake'

/** null when it can be asked. A silent worker can, and the app refuses: it may have been heard of since this picture. `stale`: the picture is an old one. */
export function askingBlock(
  { row }: WorkerView,
  asking: Asking,
  { accessMode, stale }: Pick<ConnectionView, 'accessMode'> & { readonly stale: boolean }
): AskingBlock | null {
  if (stale) return 'offline'
  if (accessMode === 'read-only') return 'readOnly'
  if (row.status === 'stopped' || row.status === 'stopping') return row.status
  if (openAsking(row) === asking) return 'asked'
  // It would weaken what another operator counts on: the app refuses it too.
  if (asking === 'quiet' && row.request === 'STOP') return 'stopAsked'
  if (asking === 'quiet' && row.request === 'QUIET') return 'quiet'
  return asking === 'wake' && row.request === null ? 'awake' : null
}
