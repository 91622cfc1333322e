import { join } from 'node:path'
import type { AppError } from '../kernel/index.ts'
import { FileHistory } from './file-history.ts'
import type { History, HistoryOptions } from './history-port.ts'
import { HistoryStore } from './history-store.ts'
import { rebuilt, unusable } from './notices.ts'
import { UnusableFile, fileFaultOf, openDatabase, setAside } from './open-file.ts'

const defaultMaxBytes = 256 * 1024 * 1024
const memoryMaxBytes = 64 * 1024 * 1024

/**
 * Opens the file after a check of its pages. One that is damaged, foreign or newer is renamed aside and begun anew
 * (notice HISTORY_DAMAGED); one that cannot be written is left alone (HISTORY_UNAVAILABLE, DISK_FULL).
 */
export function openHistory(options: HistoryOptions): { history: History; notice?: AppError } {
  const migrations = join(options.migrationsDir, 'history')
  const open = (): HistoryStore => openStore(options.file, migrations, options.maxBytes ?? defaultMaxBytes)
  const inMemory = (): HistoryStore => openStore(':memory:', migrations, memoryMaxBytes)
  try {
    return { history: new FileHistory(options, open(), inMemory) }
  } catch (error) {
    const fault = error instanceof UnusableFile ? 'damaged' : fileFaultOf(error)
    if (fault !== 'damaged') {
      return { history: new FileHistory(options, undefined, inMemory), notice: unusable(fault ?? 'unwritable', error) }
    }
    try {
      const aside = setAside(options.file, options.clock)
      return { history: new FileHistory(options, open(), inMemory), notice: rebuilt(aside, error) }
    } catch (second) {
      return { history: new FileHistory(options, undefined, inMemory), notice: unusable('unwritable', second) }
    }
  }
}

function openStore(file: string, migrations: string, maxBytes: number): HistoryStore {
  const db = openDatabase(file, migrations, maxBytes)
  try {
    return new HistoryStore(db)
  } catch (error) {
    db.close()
    // Its tables are not the ones its version promises.
    throw fileFaultOf(error) ? error : new UnusableFile('a table is missing', { cause: error })
  }
}
