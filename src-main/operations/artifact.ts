import { constants } from 'node:fs'
import { lstat, open, realpath, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { AppError, safeFileName, taskLimits, toAppError } from '../kernel/index.ts'
import type { Artifact } from '../kernel/index.ts'
import type { TaskStore } from '../queue/task-store.ts'

/** Where artifacts may be read from. */
export interface ArtifactPlace {
  readonly artifactDir: string
  /** This host, as workers write it into the row. */
  readonly hostname: string
}

export interface ArtifactFile {
  readonly bytes: Uint8Array
  /** Safe as a file name. */
  readonly name: string
  /** One of a few passive types; anything else is `application/octet-stream`. */
  readonly contentType: string
}

/**
 * Reads a file that an attempt left. The row is hostile input (it may say /etc/passwd): only a regular file of this host
 * whose real path lies inside the artifact folder is read, at most 16 MiB. Throws NOT_FOUND without a row, FILE_UNAVAILABLE with
 * the reason otherwise.
 */
export async function readArtifact(
  options: ArtifactPlace & { store: Pick<TaskStore, 'artifact'>; taskId: string; artifactId: string }
): Promise<ArtifactFile> {
  const row = await options.store.artifact(options.taskId, options.artifactId)
  if (!row) throw new AppError('NOT_FOUND', 'user', 'There is no such file any more.')
  const path = await locate(row, options)
  // Neither a link put there meanwhile is followed, nor does a pipe make the open wait.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const file = await open(path, flags).catch((error: unknown) => {
    throw unavailable('unreadable', 'it cannot be opened', error)
  })
  try {
    await checkSame(file, row, options)
    const bytes = await readAtMost(file, taskLimits.artifactBytes)
    return { bytes, name: safeFileName(row.name), contentType: safeType(row.contentType) }
  } finally {
    await file.close()
  }
}

const obstacles = ['other-host', 'outside', 'gone', 'not-a-file', 'too-large'] as const

/**
 * Why a file cannot be read here. `other-host`: a worker of another machine wrote it. `outside`: it is on this machine, and not in the
 * artifact folder. `gone`: nothing is at its path any more.
 */
export type ArtifactObstacle = (typeof obstacles)[number]

/** For each of them null when `readArtifact` would read it now, else what is in the way; by id. */
export async function artifactObstacles(
  artifacts: readonly Artifact[],
  place: ArtifactPlace
): Promise<Map<string, ArtifactObstacle | null>> {
  const found = artifacts.map(async (artifact) => {
    const obstacle = await locate(artifact, place).then(() => null, obstacleIn)
    return [artifact.id, obstacle] as const
  })
  return new Map(await Promise.all(found))
}

function obstacleIn(error: unknown): ArtifactObstacle {
  const { reason } = toAppError(error).details
  return obstacles.find((one) => one === reason) ?? 'gone'
}

/** The real path of the file, or FILE_UNAVAILABLE. */
async function locate(row: Artifact, { artifactDir, hostname }: ArtifactPlace): Promise<string> {
  if (row.host !== hostname) throw unavailable('other-host', `it is on the host ${row.host}; fetch it there`)
  if (!isAbsolute(row.path)) throw unavailable('outside', 'its path does not lead into the artifact folder')
  const gone = (error: unknown): never => {
    throw unavailable('gone', 'it is not there any more', error)
  }
  const path = await realpath(row.path).catch(gone)
  // A folder into which no worker has written yet does not exist, so nothing lies in it.
  const root = await realpath(artifactDir).catch(() => null)
  const inside = root === null ? '..' : relative(root, path)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw unavailable('outside', 'its path does not lead into the artifact folder')
  }
  const found = await lstat(path).catch(gone)
  if (!found.isFile()) throw unavailable('not-a-file', 'it is no regular file')
  if (found.size > taskLimits.artifactBytes) throw tooLarge()
  return path
}

/** What was opened is what the path still leads to, and it is still inside: no folder was swapped in between. */
async function checkSame(file: FileHandle, row: Artifact, place: ArtifactPlace): Promise<void> {
  const [opened, there] = await Promise.all([file.stat(), locate(row, place).then((path) => stat(path))])
  if (!opened.isFile() || opened.ino !== there.ino || opened.dev !== there.dev) {
    throw unavailable('changed', 'it changed while it was opened; try again')
  }
}

/** The file may grow while it is read. */
async function readAtMost(file: FileHandle, limit: number): Promise<Uint8Array> {
  const { size } = await file.stat()
  const buffer = Buffer.alloc(Math.min(size, limit) + 1)
  let length = 0
  while (length < buffer.byteLength) {
    const { bytesRead } = await file.read(buffer, length, buffer.byteLength - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  if (length > limit) throw tooLarge()
  return buffer.subarray(0, length)
}

const tooLarge = (): AppError => unavailable('too-large', 'it is larger than 16 MiB; fetch it from the host')

const unavailable = (reason: string, why: string, cause?: unknown): AppError =>
  new AppError('FILE_UNAVAILABLE', 'user', `The file cannot be read: ${why}.`, { cause, details: { reason } })

const passiveTypes = [
  'text/plain',
  'text/csv',
  'application/json',
  'application/pdf',
  'application/zip',
  'application/gzip',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'image/png',
  'image/jpeg'
]

/** Types that a browser would run, such as HTML and SVG, are not passed on. */
function safeType(contentType: string): string {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return passiveTypes.includes(type) ? type : 'application/octet-stream'
}
