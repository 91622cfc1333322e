import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError, systemClock, textMask } from '../kernel/index.ts'
import { createAppLog, type AppLog } from './app-log.ts'

let folder: string
let file: string
let log: AppLog
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'taskdeck-log-'))
  file = join(folder, 'logs/taskdeck.log')
  log = createAppLog({ file, clock: systemClock })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const written = (): string => readFileSync(file, 'utf8')

describe('app log', () => {
  it('never writes a secret that was made known, in any of its forms', () => {
    log.hide('pä"ss wörd')
    log.write('info', 'tried pä"ss wörd')
    log.write('info', JSON.stringify({ it: 'pä"ss wörd' }))
    log.write('info', `mysql://u@h/?x=${encodeURIComponent('pä"ss wörd')}`)
    log.bug(new Error('outer', { cause: new AppError('SQL_FAILED', 'operational', 'with pä"ss wörd') }))
    expect(written()).not.toContain('wörd')
    expect(written()).not.toContain(encodeURIComponent('wörd'))
    expect(written()).toContain('SQL_FAILED')
  })

  it('hides a secret that begins with an older one as a whole', () => {
    log.hide('Sesame')
    log.hide('Sesame-prod-7781')
    expect(log.redact('using Sesame-prod-7781, not Sesame')).toBe('using •••, not •••')
  })

  it('hides what the user wants hidden as well', () => {
    log.maskWith(textMask(['salary']))
    log.write('info', 'paid, salary: 12000, password=hunter2')
    expect(written()).toMatch(/paid, salary: ••••, password=•+\n$/)
    expect(log.redact('{"Salary":1}')).toBe('{"Salary":••••}')
  })

  it('says once that its file cannot be written', () => {
    writeFileSync(join(folder, 'logs'), '')
    const failures: unknown[] = []
    log = createAppLog({ file, clock: systemClock, onFailure: (error) => failures.push(error) })
    log.write('info', 'one')
    log.write('info', 'two')
    expect(failures).toMatchObject([{ code: 'FILE_UNAVAILABLE', details: { path: file } }])
  })

  it('takes any text as a secret, half a character too', () => {
    log.hide('wörd\ud800')
    expect(log.redact('tried wörd\ud800')).toBe('tried •••')
  })

  it.each([
    ['mysql://root:hunter2@db/x', 'hunter2'],
    ['{"password":"hunter2"}', 'hunter2'],
    ['password = hunter2', 'hunter2'],
    ['authorization: Bearer abcdefgh1234', 'abcdefgh1234'],
    ['sec-websocket-protocol: orpc, token.abcdefgh1234', 'abcdefgh1234'],
    ['http://127.0.0.1:1/#token=abcdefgh1234', 'abcdefgh1234']
  ])('hides a secret by its place: %s', (text, secret) => {
    expect(log.redact(text)).not.toContain(secret)
    expect(log.redact(text)).toContain('•••')
  })

  it('leaves ordinary text alone', () => {
    const text = 'Task 12 of type mail.send failed: 3 tokens left, passwords are fine'
    expect(log.redact(text)).toBe(text)
  })

  it('gives a bug a reference under which the file has its stack', () => {
    const reference = log.bug(new Error('boom'))
    expect(written()).toMatch(new RegExp(`\\[${reference}\\] Error: boom\\n.*at `))
  })

  it('stays within two files of 1 MiB, readable by their owner alone', () => {
    const text = 'x'.repeat(8_000)
    for (let n = 0; n < 400; n++) log.write('info', text)
    expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThan(2.1 * 1_048_576)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('does not wait for the reader of a pipe in its place', () => {
    mkdirSync(join(folder, 'logs'))
    execFileSync('mkfifo', [file])
    log.write('info', 'nobody reads this')
    expect(statSync(file).isFIFO()).toBe(true)
  })

  it('does not fail when it cannot write', () => {
    log.write('info', 'makes the file')
    const broken = createAppLog({ file: join(file, 'x.log'), clock: systemClock })
    expect(() => broken.write('info', 'x')).not.toThrow()
  })
})
