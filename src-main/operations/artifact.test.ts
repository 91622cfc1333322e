import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { taskLimits, type Artifact } from '../kernel/index.ts'
import { artifactObstacles, readArtifact } from './artifact.ts'

let base: string
let artifactDir: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'taskdeck artefakte-ä-'))
  artifactDir = join(base, 'artifacts')
  mkdirSync(artifactDir)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const row = (path: string, more: Partial<Artifact> = {}): Artifact => ({
  id: '7',
  attempt: 1,
  name: 'errors.csv',
  contentType: 'text/csv',
  bytes: 3,
  host: 'here',
  path,
  createdAt: 0,
  expiresAt: 0,
  ...more
})
const read = (artifact: Artifact | undefined) =>
  readArtifact({
    store: { artifact: () => Promise.resolve(artifact) },
    taskId: '1',
    artifactId: '7',
    artifactDir,
    hostname: 'here'
  })
const write = (name: string, content = 'a,b'): string => {
  const path = join(artifactDir, name)
  writeFileSync(path, content)
  return path
}

describe('an artifact', () => {
  it('inside the folder of this host is read', async () => {
    mkdirSync(join(artifactDir, 'task-1'))
    const file = await read(row(write('task-1/fehler ü.csv', 'a,ü')))
    expect(Buffer.from(file.bytes).toString()).toBe('a,ü')
    expect(file).toMatchObject({ name: 'errors.csv', contentType: 'text/csv' })
  })

  it('may be named like a parent folder without being one', async () => {
    expect((await read(row(write('..errors.csv')))).bytes).toHaveLength(3)
  })

  it('may lie below a folder that is itself reached through a link', async () => {
    const path = write('x.csv')
    symlinkSync(artifactDir, join(base, 'link'))
    artifactDir = join(base, 'link')
    expect((await read(row(path))).bytes).toHaveLength(3)
  })

  it('without a row is not found', async () => {
    await expect(read(undefined)).rejects.toMatchObject({ code: 'NOT_FOUND', kind: 'user' })
  })

  const outside = (): string => {
    writeFileSync(join(base, 'secret'), 'secret')
    return join(base, 'secret')
  }
  const link = (target: string): string => {
    symlinkSync(target, join(artifactDir, 'link'))
    return join(artifactDir, 'link')
  }
  const big = (): string => {
    const path = write('big')
    truncateSync(path, taskLimits.artifactBytes + 1)
    return path
  }
  const pipe = (): string => {
    execFileSync('mkfifo', [join(artifactDir, 'pipe')])
    return join(artifactDir, 'pipe')
  }
  const sibling = (): string => {
    mkdirSync(`${artifactDir}-other`)
    writeFileSync(`${artifactDir}-other/x`, 'x')
    return `${artifactDir}-other/x`
  }
  it.each<[string, string, () => string]>([
    ['of another file of the system', 'outside', () => '/etc/passwd'],
    ['that climbs out', 'outside', () => (outside(), `${artifactDir}/../secret`)],
    ['in a folder whose name begins alike', 'outside', sibling],
    ['that is relative', 'outside', () => 'artifacts/x.csv'],
    ['that is empty', 'outside', () => ''],
    ['of the folder itself', 'outside', () => artifactDir],
    ['of a link that leads out', 'outside', () => link(outside())],
    ['below a linked folder that leads out', 'outside', () => (outside(), `${link(base)}/secret`)],
    ['of a file that is gone', 'gone', () => join(artifactDir, 'gone.csv')],
    ['with a zero byte', 'gone', () => `${artifactDir}/x\0.csv`],
    ['of a folder', 'not-a-file', () => (mkdirSync(join(artifactDir, 'dir')), join(artifactDir, 'dir'))],
    ['of a pipe', 'not-a-file', pipe],
    ['of a file above 16 MiB', 'too-large', big]
  ])('with the path %s is refused', async (_name, reason, path) => {
    await expect(read(row(path()))).rejects.toMatchObject({
      code: 'FILE_UNAVAILABLE',
      kind: 'user',
      details: { reason }
    })
  })

  it('on another host is refused, naming the host', async () => {
    await expect(read(row(write('x.csv'), { host: 'there' }))).rejects.toMatchObject({
      code: 'FILE_UNAVAILABLE',
      message: expect.stringContaining('there') as string
    })
  })

  it('of exactly 16 MiB is read', async () => {
    const path = write('big')
    truncateSync(path, taskLimits.artifactBytes)
    expect((await read(row(path))).bytes).toHaveLength(taskLimits.artifactBytes)
  })

  it('loses what is dangerous in its name and type', async () => {
    const path = write('x')
    const safe = async (more: Partial<Artifact>) => read(row(path, more))
    expect((await safe({ name: '../../a\u202e\n/b:c.csv' })).name).toBe('_.._a___b_c.csv')
    expect((await safe({ name: '...' })).name).toBe('file')
    expect((await safe({ name: '😀'.repeat(300) })).name).toBe('😀'.repeat(50))
    expect((await safe({ contentType: 'text/html' })).contentType).toBe('application/octet-stream')
    expect((await safe({ contentType: 'Text/CSV; charset=utf-8' })).contentType).toBe('text/csv')
  })

  it('is offered only when it could be read, and says what is in the way otherwise', async () => {
    const path = write('x')
    linkSync(path, join(artifactDir, 'y'))
    const rows = [
      row(path, { id: '1' }),
      row('/etc/passwd', { id: '2' }),
      row(join(artifactDir, 'y'), { id: '3' }),
      row(path, { id: '4', host: 'there' }),
      row(join(artifactDir, 'z'), { id: '5' }),
      row(join(artifactDir), { id: '6' })
    ]
    const found = await artifactObstacles(rows, { artifactDir, hostname: 'here' })
    expect(Object.fromEntries(found)).toEqual({
      ...{ '1': null, '2': 'outside', '3': null },
      ...{ '4': 'other-host', '5': 'gone', '6': 'outside' }
    })
  })

  it('of another folder is not called gone while the own folder does not exist yet', async () => {
    const found = await artifactObstacles([row(write('x'), { id: '1' })], {
      artifactDir: join(base, 'none yet'),
      hostname: 'here'
    })
    expect(found.get('1')).toBe('outside')
  })
})
