import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import { isLoopbackHost, parseMysqlUrl } from './settings.ts'

const problemOf = (text: string): AppError => {
  try {
    parseMysqlUrl(text)
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('it was accepted')
}

describe('parseMysqlUrl', () => {
  it('reads every part, decoded, with defaults', () => {
    expect(parseMysqlUrl('mysql://a%40b:p%2Fw%3A@db.example/app')).toEqual({
      host: 'db.example',
      port: 3306,
      user: 'a@b',
      password: 'p/w:',
      database: 'app',
      tls: 'disabled',
      ca: ''
    })
    expect(parseMysqlUrl('mysql://u@[::1]:3307/app?tls=verify-identity')).toMatchObject({
      host: '::1',
      port: 3307,
      password: '',
      tls: 'verify-identity'
    })
  })

  it.each([
    ['not a url', 'canary'],
    ['another protocol', 'postgres://u:canary@h/db'],
    ['a broken escape', 'mysql://u:canary%zz@h/db'],
    ['a port out of range', 'mysql://u:canary@h:99999/db'],
    ['port 0', 'mysql://u:canary@h:0/db'],
    ['no user', 'mysql://:canary@h/db'],
    ['no database', 'mysql://u:canary@h'],
    ['two path parts', 'mysql://u:canary@h/db/x'],
    ['a line break in a name', 'mysql://u%0Acanary:p@h/db'],
    ['a NUL in the database', 'mysql://u:canary@h/d%00b'],
    ['an unknown tls mode', 'mysql://u:canary@h/db?tls=canary'],
    ['an unknown option', 'mysql://u:canary@h/db?canary=1']
  ])('refuses %s without repeating any of it', (_what, text) => {
    const problem = problemOf(text)
    expect([problem.code, problem.kind]).toEqual(['INVALID_INPUT', 'user'])
    expect(JSON.stringify([problem.message, problem.details, problem.stack, problem.cause])).not.toContain('canary')
  })
})

describe('isLoopbackHost', () => {
  it('knows this machine and takes everything else for elsewhere', () => {
    expect(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.8.8', '::1'].every(isLoopbackHost)).toBe(true)
    expect(['127.evil.example', '10.0.0.1', 'localhost.example', '0.0.0.0', '::2'].some(isLoopbackHost)).toBe(false)
  })
})
