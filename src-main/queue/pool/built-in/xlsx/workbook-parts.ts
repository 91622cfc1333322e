import { crc32 } from 'node:zlib'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { headOf } from '../file-head.ts'
import { workbookLimits } from './limits.ts'
import { damaged, damagedUnlessIo, notXlsx, tooLarge } from './workbook-errors.ts'

/** The parts of a workbook, which is a zip archive of XML files. Every part is streamed. */
export class WorkbookParts {
  private readonly zip: ZipFile
  private readonly entries: ReadonlyMap<string, Entry>
  private readonly signal: AbortSignal
  private unpackedBytes = 0

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, signal: AbortSignal) {
    this.zip = zip
    this.entries = entries
    this.signal = signal
  }

  /** Throws FILE_NOT_XLSX, WORKBOOK_DAMAGED and WORKBOOK_TOO_LARGE, all final. */
  static async open(file: string, signal: AbortSignal): Promise<WorkbookParts> {
    await requireZip(file)
    try {
      const zip = await openPromise(file, { autoClose: false, lazyEntries: true })
      try {
        return new WorkbookParts(zip, await entriesOf(zip), signal)
      } catch (error) {
        zip.close()
        throw error
      }
    } catch (error) {
      throw damagedUnlessIo(error)
    }
  }

  has(path: string): boolean {
    return this.entries.has(nameOf(path))
  }

  /** A part's bytes, at most `mostBytes` of them. Throws as `open` does, and the signal's reason. */
  async *read(path: string, mostBytes: number): AsyncGenerator<Buffer> {
    const entry = this.entries.get(nameOf(path))
    if (!entry) throw damaged(`its part ${path} is missing`)
    if (entry.isEncrypted()) throw notXlsx('it is protected by a password')
    this.admit(entry, mostBytes)
    let sum = 0
    try {
      const stream = await this.zip.openReadStreamPromise(entry)
      for await (const bytes of stream as AsyncIterable<Buffer>) {
        this.signal.throwIfAborted()
        sum = crc32(bytes, sum)
        yield bytes
      }
    } catch (error) {
      throw this.signal.aborted ? this.signal.reason : damagedUnlessIo(error)
    }
    if (sum !== entry.crc32) throw damaged(`the checksum of its part ${path} is wrong`)
  }

  close(): void {
    this.zip.close()
  }

  /** The declared size can be relied on: yauzl ends a stream that unpacks to more. */
  private admit({ uncompressedSize }: Entry, mostBytes: number): void {
    this.unpackedBytes += uncompressedSize
    if (uncompressedSize > mostBytes) throw tooLarge(`a part of ${uncompressedSize} bytes where ${mostBytes} are read`)
    const most = workbookLimits.unpackedBytes
    if (this.unpackedBytes > most) throw tooLarge(`parts of ${this.unpackedBytes} bytes where ${most} are read`)
  }
}

async function entriesOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>()
  const fixedBytes = 46
  let bytes = 0
  for await (const entry of zip.eachEntry()) {
    bytes += fixedBytes + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
    if (bytes > workbookLimits.directoryBytes) throw tooLarge(`more parts than can be listed`)
    entries.set(nameOf(entry.fileName), entry)
  }
  return entries
}

/** Names of parts do not tell capitals apart. */
const nameOf = (path: string): string => path.toLowerCase()

async function requireZip(file: string): Promise<void> {
  const head = await headOf(file)
  if (head === 'ole') throw notXlsx('it is an old .xls workbook, or protected by a password')
  if (head !== 'zip') throw notXlsx('its first bytes are of another kind of file')
}
