// Run by history.test.ts as a user who may not write: opens the file, appends, and prints what came of it.
import { pathToFileURL } from 'node:url'

const [, , module, file, migrationsDir] = process.argv
const { openHistory } = await import(pathToFileURL(module).href)
let told = 0
const clock = { now: () => 1_000_000, monotonic: () => 0, random: () => 0, sleep: () => Promise.resolve() }
const { history, notice } = openHistory({ file, clock, migrationsDir, onNotice: () => told++ })
for (const value of [4, 5]) {
  const points = [{ metric: 'depth', type: '', value }]
  await history.append({ connectionId: 'local', at: 1_000_000 + value, points, readingJson: '{}' })
}
const { series } = await history.query('local', { from: 1_000_000, to: 1_000_010, maxPoints: 10 })
console.log(JSON.stringify({ code: notice?.code, value: series[0]?.values.at(-1), told }))
await history.close()
