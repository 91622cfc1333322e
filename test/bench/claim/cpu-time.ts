import { readFileSync } from 'node:fs'

/** Of Linux, for every architecture it runs on. */
const tickMs = 10

/** Milliseconds of CPU that a process has used; NaN where /proc is not. A noisy neighbour does not change it much, unlike any duration. */
export function cpuMsOf(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8')
    // The name, in brackets, may hold anything; user and system time are the 12th and 13th values after it.
    const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(values[11]) + Number(values[12])) * tickMs
  } catch {
    return Number.NaN
  }
}
