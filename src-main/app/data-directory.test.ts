import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeDataDirectory } from './data-directory.ts'

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'taskdeck-data-')), 'mit Leerzeichen é', 'data')
})
afterEach(() => rmSync(join(folder, '../..'), { recursive: true, force: true }))

describe('data directory', () => {
  it('is never a folder of somebody else, whose mode stays as it was', () => {
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o1777)
    writeFileSync(join(folder, 'notes.txt'), 'of somebody else')
    expect(() => takeDataDirectory(folder, 'here')).toThrow(/open to others/)
    expect(statSync(folder).mode & 0o7777).toBe(0o1777)
    chmodSync(folder, 0o700)
    takeDataDirectory(folder, 'here').release()
  })

  it('is made private when it is empty or ours', () => {
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o755)
    takeDataDirectory(folder, 'here').release()
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    writeFileSync(join(folder, 'queue.sqlite'), '')
    chmodSync(folder, 0o755)
    takeDataDirectory(folder, 'here').release()
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  it.runIf(process.platform === 'linux')('is refused at once where no folder can be made', () => {
    const run = spawnSync(
      process.execPath,
      [
        '-e',
        `
      import(${JSON.stringify(join(import.meta.dirname, 'data-directory.ts'))})
        .then(({ takeDataDirectory }) => takeDataDirectory('/proc/none', 'here')).catch((error) => console.log(error.code))`
      ],
      { encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' }
    )
    expect(run.stdout.trim()).toBe('FILE_UNAVAILABLE')
  })

  it('is made for its owner alone', () => {
    const first = takeDataDirectory(folder, 'here')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    first.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is refused while another process of this host holds it, and says by whom', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    try {
      const mine = takeDataDirectory(folder, 'here')
      expect(() => takeDataDirectory(folder, 'here')).toThrow(new RegExp(`already running.*process ${process.pid}`))
      mine.release()
      takeDataDirectory(folder, 'here').release()
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })

  it('is taken over from a process that is gone', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    takeDataDirectory(folder, 'here').release()
    writeFileSync(join(folder, 'lock.json'), JSON.stringify({ pid: child.pid, host: 'here', started: '1' }))
    const mine = takeDataDirectory(folder, 'here')
    expect(readdirSync(folder)).toEqual(['lock.json'])
    mine.release()
  })

  it('is taken over from an earlier process whose id was given to another', () => {
    takeDataDirectory(folder, 'here').release()
    writeFileSync(join(folder, 'lock.json'), JSON.stringify({ pid: process.pid, host: 'here', started: 'earlier' }))
    takeDataDirectory(folder, 'here').release()
  })

  it('is taken over when the lock is damaged', () => {
    takeDataDirectory(folder, 'here').release()
    writeFileSync(join(folder, 'lock.json'), '{"pid":')
    takeDataDirectory(folder, 'here').release()
  })

  it('is not taken from another host, whose processes cannot be asked', () => {
    takeDataDirectory(folder, 'here').release()
    writeFileSync(join(folder, 'lock.json'), JSON.stringify({ pid: 1, host: 'there', started: '' }))
    expect(() => takeDataDirectory(folder, 'here')).toThrow(/process 1 on there.*delete .*lock\.json/)
  })

  it('that cannot be made is a clear message', () => {
    takeDataDirectory(folder, 'here').release()
    writeFileSync(join(folder, 'file'), '')
    expect(() => takeDataDirectory(join(folder, 'file/data'), 'here')).toThrow(/cannot be used: choose another one/)
  })

  it('is refused, not waited for, when its lock is a pipe', () => {
    takeDataDirectory(folder, 'here').release()
    execFileSync('mkfifo', [join(folder, 'lock.json')])
    expect(() => takeDataDirectory(folder, 'here')).toThrow(/delete .*lock\.json/)
  })
})
