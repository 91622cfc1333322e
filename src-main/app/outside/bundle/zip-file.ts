import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)

export interface ZipEntry {
  /** Plain ASCII, without folders. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** Of the format (APPNOTE.TXT 4.3): version 2.0, names in UTF-8, deflated. */
const versionNeeded = 20
const utf8Names = 0x0800
const deflated = 8
const localSignature = 0x04034b50
const centralSignature = 0x02014b50
const endSignature = 0x06054b50

/**
 * A ZIP archive, which every desktop opens. Written here because it is a page of code; without the parts of the format for files beyond
 * 4 GiB or many of them. `at` is their time, milliseconds since the epoch.
 */
export async function zipOf(entries: readonly ZipEntry[], at: number): Promise<Uint8Array> {
  const stamp = dosTime(at)
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const { name, bytes } of entries) {
    const packed = await deflate(bytes)
    const fields = entryFields({ name, bytes, packed, stamp })
    const local = Buffer.concat([numbers([4, localSignature], ...fields), Buffer.from(name), packed])
    // Made by, comment's and disk's fields (none), attributes (none), and where the entry begins.
    const central = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, offset]
    ] as const
    centrals.push(numbers([4, centralSignature], [2, versionNeeded], ...fields, ...central), Buffer.from(name))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(centrals)
  const count = entries.length
  const end = numbers(
    ...([
      [4, endSignature],
      [2, 0],
      [2, 0],
      [2, count],
      [2, count],
      [4, directory.length],
      [4, offset],
      [2, 0]
    ] as const)
  )
  return Buffer.concat([...locals, directory, end])
}

type Field = readonly [size: 2 | 4, value: number]

/** What the entry and the directory say alike. */
function entryFields(of: ZipEntry & { readonly packed: Buffer; readonly stamp: readonly [number, number] }): Field[] {
  const { name, bytes, packed, stamp } = of
  return [
    [2, versionNeeded],
    [2, utf8Names],
    [2, deflated],
    [2, stamp[0]],
    [2, stamp[1]],
    [4, crc32(bytes)],
    [4, packed.length],
    [4, bytes.length],
    [2, Buffer.byteLength(name)],
    [2, 0]
  ]
}

/** Little endian. */
function numbers(...fields: readonly Field[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((total, [size]) => total + size, 0))
  let at = 0
  for (const [size, value] of fields) at = buffer.writeUIntLE(value, at, size)
  return buffer
}

/** Two-second steps from 1980 to 2107; UTC, as everything in a bundle. */
function dosTime(at: number): readonly [time: number, date: number] {
  const date = new Date(Math.min(Math.max(at, Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31)))
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1)
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate()
  return [time, day]
}
