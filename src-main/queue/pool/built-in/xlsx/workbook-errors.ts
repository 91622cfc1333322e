import { messageOf } from '../../error-text.ts'
import { FinalError } from '../../handler.ts'

/*
 * What can be wrong with a workbook: no later attempt reads it otherwise. `reason` and `what` are parts of a sentence.
 */

export function notXlsx(reason: string): FinalError {
  const remedy = 'Save it as .xlsx without a password, or as CSV for import-csv'
  return new FinalError('FILE_NOT_XLSX', `The file is no .xlsx workbook: ${reason}. ${remedy}.`)
}

export const damaged = (reason: string): FinalError =>
  new FinalError(
    'WORKBOOK_DAMAGED',
    `The workbook is damaged: ${reason}. Open it in a spreadsheet program and save it.`
  )

export const tooLarge = (what: string): FinalError =>
  new FinalError('WORKBOOK_TOO_LARGE', `The workbook has ${what}. Save the sheet as CSV for import-csv.`)

/** What the archive's library throws is the file's fault, unless the system could not read it: that may pass. */
export function damagedUnlessIo(error: unknown): unknown {
  const isSystemError = error instanceof Error && 'syscall' in error
  return isSystemError || error instanceof FinalError ? error : damaged(messageOf(error))
}
