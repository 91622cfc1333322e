import { threadLimits } from '../../protocol.ts'

const mebibyte = 1024 * 1024

/** What a workbook may take: a small file can unpack to any size. A handler thread has a heap of 512 MB. */
export const workbookLimits = {
  /** Unpacked bytes of all parts that are read; a sheet is streamed, so this bounds time and not memory. */
  unpackedBytes: 1024 * mebibyte,
  /** Unpacked bytes of the shared texts, which are kept in memory. */
  textBytes: 64 * mebibyte,
  /** Unpacked bytes of any other part that is not a sheet: the list of sheets, the formats. */
  partBytes: 16 * mebibyte,
  /** Bytes of the archive's own list of its parts. */
  directoryBytes: 4 * mebibyte,
  /** Those of the format itself. */
  rows: 1_048_576,
  columns: 16_384,
  /** Columns with a name: each costs every row, and a row with more of them would be too long to be stored. */
  namedColumns: 4_096,
  /** Characters of a row that are kept: one more than can be stored, so that the import rejects the row as too long. */
  rowCharacters: threadLimits.rowBytes + 1,
  /** Elements within each other, and attributes of one element: the parser keeps them. */
  depth: 64,
  attributes: 256
} as const
