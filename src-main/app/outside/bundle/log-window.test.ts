import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { logWindow, mostLogEntries } from './log-window.ts'

function logFile(text: string, before = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'taskdeck.log')
  writeFileSync(file, text)
  if (before !== '') writeFileSync(`${file}.1`, before)
  return file
}
const at = (second: number): string => new Date(second * 1_000).toISOString()
const window = { from: 100_000, to: 200_000, connectionId: 'orders' }

it('has the entries of the window, with all their lines, from both files and of this connection only', async () => {
  const file = logFile(
    [
      `${at(150)} error [ab12] Error: x`,
      '    at somewhere',
      `${at(160)} info connection orders: live`,
      `${at(170)} info connection billing: lost (HOST_UNKNOWN)`,
      `${at(201)} info later`,
      ''
    ].join('\n'),
    `${at(99)} info earlier\n${at(100)} info first\n`
  )
  expect(await logWindow(file, window)).toEqual([
    `${at(100)} info first`,
    `${at(150)} error [ab12] Error: x\n    at somewhere`,
    `${at(160)} info connection orders: live`
  ])
})

it('keeps the newest of very many, and leaves out what is no entry', async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `${at(150)} info line ${n}`)
  const found = await logWindow(logFile(['junk', '', ...lines, ''].join('\n')), window)
  expect(found).toHaveLength(mostLogEntries)
  expect(found.at(-1)).toContain('line 4999')
})

it('is empty where there is no log', async () => {
  expect(await logWindow('/nowhere/taskdeck.log', window)).toEqual([])
})
