import { open } from 'node:fs/promises'

/** What a file is by its first bytes: `ole` is the container of .xls files and of workbooks with a password. */
export type FileHead = 'zip' | 'ole' | 'other'

const heads: Readonly<Record<string, FileHead>> = { '504b0304': 'zip', d0cf11e0: 'ole' }

/** Throws what the system throws for a file that cannot be read. */
export async function headOf(file: string): Promise<FileHead> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return heads[buffer.toString('hex', 0, bytesRead)] ?? 'other'
  } finally {
    await handle.close()
  }
}
