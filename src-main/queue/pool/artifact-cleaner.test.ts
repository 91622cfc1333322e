import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ArtifactCleaner } from './artifact-cleaner.ts'
import { artifactPath } from './artifact-files.ts'
import { ManualClock } from '../manual-clock.fixture.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000

describe('ArtifactCleaner', () => {
  let artifactDir: string
  let clock: ManualClock
  let said: string[]
  let waiting: (() => void)[]

  beforeEach(() => {
    artifactDir = mkdtempSync(join(tmpdir(), 'taskdeck-artifacts-'))
    onTestFinished(() => rmSync(artifactDir, { recursive: true, force: true }))
    clock = new ManualClock()
    said = []
    waiting = []
  })

  /** A file, and the folder of its attempt, as they were left on day `day`. */
  const keep = (taskId: string, attempt: number, day: number): string => {
    const path = artifactPath(artifactDir, taskId, attempt, 'report.csv')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'x')
    for (const aged of [path, dirname(path)]) utimesSync(aged, day * 86_400, day * 86_400)
    return path
  }

  const start = (): ArtifactCleaner => {
    const log = (_level: string, message: string): void => {
      said.push(message)
      waiting.splice(0).forEach((resolve) => resolve())
    }
    const cleaner = new ArtifactCleaner({ artifactDir, artifactDays: 7, clock, log })
    cleaner.start()
    return cleaner
  }

  const nextLine = (): Promise<void> => new Promise((resolve) => waiting.push(resolve))

  /** Lets a round begin, and waits until it has said what it did. */
  const round = async (): Promise<void> => {
    const heard = nextLine()
    await clock.advance(2 * hourMs)
    await heard
  }

  it('removes files and folders whose time is over, a day later, and no others', async () => {
    await clock.advance(30 * dayMs)
    const old = keep('1', 1, 20)
    const withinTheDay = keep('2', 1, 22.5)
    const young = keep('3', 2, 29)
    const oldOfSameTask = keep('3', 1, 10)
    const cleaner = start()
    await round()
    expect(said).toEqual(['removed 2 expired artifacts'])
    expect([old, oldOfSameTask, dirname(oldOfSameTask)].filter((path) => existsSync(path))).toEqual([])
    expect([withinTheDay, young].every((path) => existsSync(path))).toBe(true)
    await cleaner.stop()
    expect(existsSync(join(artifactDir, '1'))).toBe(false)
  })

  it('touches nothing that is no artifact, and follows no link out of its folder', async () => {
    await clock.advance(30 * dayMs)
    const outside = mkdtempSync(join(tmpdir(), 'taskdeck-outside-'))
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
    const foreign = [join(artifactDir, '.handler-cache/1/a.js'), join(artifactDir, 'notes/1/b'), join(outside, '1/c')]
    for (const path of foreign) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, 'x')
      utimesSync(path, 1, 1)
    }
    symlinkSync(outside, join(artifactDir, '4'))
    keep('5', 1, 1)
    const cleaner = start()
    await round()
    await cleaner.stop()
    expect(said).toEqual(['removed 1 expired artifacts'])
    expect(foreign.every((path) => existsSync(path))).toBe(true)
  })

  it('removes so many in one round, and the rest in the next', async () => {
    await clock.advance(30 * dayMs)
    for (let task = 1; task <= 1_010; task++) keep(String(task), 1, 1)
    const cleaner = start()
    await round()
    await round()
    await cleaner.stop()
    expect(said).toEqual(['removed 1000 expired artifacts', 'removed 10 expired artifacts'])
  })

  it('waits for the folder to be made', async () => {
    rmSync(artifactDir, { recursive: true })
    await clock.advance(30 * dayMs)
    const heard = nextLine()
    const cleaner = start()
    await clock.advance(2 * hourMs)
    keep('1', 1, 1)
    await clock.advance(2 * hourMs)
    await heard
    await cleaner.stop()
    expect(said).toEqual(['removed 1 expired artifacts'])
  })
})
