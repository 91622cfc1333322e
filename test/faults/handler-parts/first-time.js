// What a payload does to its own process or thread happens once for each task, in whichever attempt gets that far: another fault may
// end the first one before it does. The run's folder keeps the record, which a killed process cannot take with it.
import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folderOf = (/** @type {string} */ runFolder) => join(runFolder, 'hurt')

/** For the run, before its processes start. @param {string} runFolder */
export function prepareRecord(runFolder) {
  mkdirSync(folderOf(runFolder))
}

/**
 * Whether it has not happened to this task yet, in any process; from now on it has.
 * @param {string} how name of a death point or a crash
 * @param {string} task
 */
export function isFirstTime(how, task) {
  try {
    closeSync(openSync(join(folderOf(process.env['RUN_FOLDER'] ?? ''), `${how} ${task}`), 'wx'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/**
 * To how many tasks each has happened, by name.
 * @param {string} runFolder
 * @returns {Record<string, number>}
 */
export function readRecord(runFolder) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const name of readdirSync(folderOf(runFolder))) {
    const [how = ''] = name.split(' ')
    counts[how] = (counts[how] ?? 0) + 1
  }
  return counts
}
