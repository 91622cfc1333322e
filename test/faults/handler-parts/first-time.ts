import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/*
 * What a payload does to its own process or thread happens once for each task, in whichever attempt gets that far: another fault may
 * end the first one before it does. The run's folder keeps the record, which a killed process cannot take with it.
 */

const folderOf = (runFolder: string): string => join(runFolder, 'hurt')

/** For the run, before its processes start. */
export function prepareRecord(runFolder: string): void {
  mkdirSync(folderOf(runFolder))
}

/** Whether it, a death point or a crash, has not happened to this task yet, in any process; from now on it has. */
export function isFirstTime(how: string, task: string): boolean {
  try {
    closeSync(openSync(join(folderOf(process.env['RUN_FOLDER'] ?? ''), `${how} ${task}`), 'wx'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** To how many tasks each has happened, by name. */
export function readRecord(runFolder: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of readdirSync(folderOf(runFolder))) {
    const [how = ''] = name.split(' ')
    counts[how] = (counts[how] ?? 0) + 1
  }
  return counts
}
