import { z } from 'zod'
import type { SqlValue } from '../kernel/index.ts'

const zone = z
  .string()
  .regex(
    /^(?:UTC|[+-](?:0\d|1[0-4]):[0-5]\d)$/,
    'write "UTC" or an offset such as "+08:00": with summer time an hour comes twice, and ages would be wrong'
  )

/** How a column holds a moment. A TIMESTAMP column is a datetime of UTC here, whatever the server's own zone. */
export const timeEncoding = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('datetime'), zone }),
  z.strictObject({ kind: z.literal('unixSeconds') }),
  z.strictObject({ kind: z.literal('epochMs') })
])
export type TimeEncoding = z.infer<typeof timeEncoding>

/** A moment (ms since the epoch) as the column would hold it, rounded down: for `column <= ?` and `column > ?`. */
export function encodeTime(encoding: TimeEncoding, ms: number): SqlValue {
  switch (encoding.kind) {
    case 'datetime':
      return new Date(ms + offsetMs(encoding.zone)).toISOString().slice(0, 23).replace('T', ' ')
    case 'unixSeconds':
      return Math.floor(ms / 1_000)
    case 'epochMs':
      return Math.floor(ms)
  }
}

/** Milliseconds since the epoch; null for NULL, zero dates and what is no moment. */
export function decodeTime(encoding: TimeEncoding, value: SqlValue | undefined): number | null {
  if (value === null || value === undefined) return null
  const ms = decoded(encoding, value)
  return Number.isFinite(ms) && ms > 0 ? ms : null
}

function decoded(encoding: TimeEncoding, value: SqlValue): number {
  switch (encoding.kind) {
    case 'datetime':
      return Date.parse(`${String(value).replace(' ', 'T')}Z`) - offsetMs(encoding.zone)
    case 'unixSeconds':
      return Number(value) * 1_000
    case 'epochMs':
      return Number(value)
  }
}

function offsetMs(zoneName: string): number {
  if (zoneName === 'UTC') return 0
  const minutes = Number(zoneName.slice(1, 3)) * 60 + Number(zoneName.slice(4, 6))
  return (zoneName.startsWith('-') ? -minutes : minutes) * 60_000
}
