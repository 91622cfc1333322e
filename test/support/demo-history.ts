import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeDay } from '../../resources/demo/make-day.mjs'
import { openAlerts } from '../../src-main/alerting/index.ts'
import { openHistory } from '../../src-main/history/index.ts'
import { point, systemClock, type AppError, type Point } from '../../src-main/kernel/index.ts'

const migrationsDir = join(import.meta.dirname, '../../migrations/cache')

/**
 * Gives the data folder of an app that does not run a past: the demo's days as points of this connection, up to now, and the incidents that
 * its default rules make of them.
 */
export async function fillHistory(dataDir: string, options: { connectionId: string; hours: number }): Promise<number> {
  const { connectionId, hours } = options
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const failed = (notice: AppError): never => {
    throw notice
  }
  const files = { clock: systemClock, migrationsDir, onNotice: failed }
  const { history } = openHistory({ ...files, file: join(dataDir, 'history.sqlite') })
  const { alerts } = openAlerts({
    ...files,
    file: join(dataDir, 'alerts.sqlite'),
    onChange: () => undefined,
    onMessage: () => undefined
  })
  const to = systemClock.now()
  let ticks = 0
  for (const { at, points } of makeDay({ from: to - hours * 3_600_000, to })) {
    const known: Point[] = points.map((one) => point.parse(one))
    // The readings themselves are the app's: it makes its own as soon as it runs.
    await history.append({ connectionId, at, points: known, readingJson: '' })
    alerts.observe({ connectionId, at, points: known })
    ticks++
  }
  await alerts.stop()
  await history.close()
  return ticks
}
