import type { QueueReading } from '@contract'

/** Figures that the table will never tell, however it is asked: there is nothing to wait for. */
export const untoldFigures = (reading: Pick<QueueReading, 'limits'> | null): ReadonlySet<string> =>
  new Set(reading?.limits.flatMap(({ probe, reason }) => (reason === 'schema' ? [probe] : [])) ?? [])
