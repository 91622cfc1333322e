import { AppError } from '../../../kernel/index.ts'
import { bundleData, type BundleSources } from './bundle-data.ts'
import { bundleReport } from './bundle-report.ts'
import type { Redaction } from './redaction.ts'
import { zipOf, type ZipEntry } from './zip-file.ts'

/** All files together, before they are packed: a window of 90 days with a hundred types has a tenth of it. */
const mostBytes = 64 * 1_048_576

export interface BundleRequest {
  readonly sources: BundleSources
  readonly redaction: Redaction
  readonly withNames: boolean
  /** PNG of the Overview; null: left out. */
  readonly picture: Uint8Array | null
}

/** A ZIP archive for a ticket: a report to read, all data, the log and a picture. Throws INVALID_INPUT when it would be too large. */
export async function incidentBundle({ sources, redaction, withNames, picture }: BundleRequest): Promise<Uint8Array> {
  const data = bundleData(sources, redaction, withNames)
  const log = sources.log.map((entry) => `${redaction.freeText(entry)}\n`).join('')
  const files: ZipEntry[] = [
    { name: 'data.json', bytes: Buffer.from(`${JSON.stringify(data)}\n`) },
    { name: 'log.txt', bytes: Buffer.from(log) },
    ...(picture === null ? [] : [{ name: 'overview.png', bytes: picture }])
  ]
  const described = [
    '`data.json`: everything above and all series by type',
    "`log.txt`: Taskdeck's own log in the window",
    picture === null ? 'no picture of the Overview' : '`overview.png`: the Overview as it was shown'
  ]
  files.unshift({ name: 'report.md', bytes: Buffer.from(bundleReport(data, described)) })
  if (files.reduce((total, { bytes }) => total + bytes.length, 0) > mostBytes)
    throw new AppError('INVALID_INPUT', 'user', 'That is too much for one bundle: choose a shorter time.')
  return zipOf(files, sources.madeAt)
}
