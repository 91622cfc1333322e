import { describe, expect, it } from 'vitest'
import { Redaction } from './redaction.ts'

const canary = 'cnry7f3a9c11d2'
const names = {
  hosts: ['db', 'db.example.com', 'Worker-7', 'localhost', ''],
  users: ['app'],
  databases: ['orders'],
  folders: [
    ['/home/anna/.local/share/taskdeck', '[data]'],
    ['/home/anna', '~']
  ] as const
}
const open = (withNames = false): Redaction =>
  new Redaction({ redact: (text) => text.replaceAll(canary, '•••'), names, withNames })

describe('free text', () => {
  it.each([
    ["Access denied for user 'app'@'db.example.com'", "Access denied for user '[user]'@'host-2'"],
    ['connect ECONNREFUSED 10.1.2.3:3306', 'connect ECONNREFUSED [address]:3306'],
    ['connect ECONNREFUSED fd00::12:3306 at fe80::1', 'connect ECONNREFUSED [address] at [address]'],
    ['worker-7-4711-ab is silent; DB is away', 'host-3-4711-ab is silent; host-1 is away'],
    ['/home/anna/.local/share/taskdeck/logs and /home/anna/x', '[data]/logs and ~/x'],
    ['Unknown database orders', 'Unknown database [database]'],
    // Not names, though they look a little like some.
    [
      'application reorders on localhost 127.0.0.1 at 12:03:44',
      'application reorders on localhost 127.0.0.1 at 12:03:44'
    ],
    ['version 10.11.19-MariaDB', 'version 10.11.19-MariaDB']
  ])('loses names: %s', (text, clean) => expect(open().freeText(text)).toBe(clean))

  it('keeps names that the user wants in, and no secret', () => {
    const text = `user app on db.example.com with password=${canary}x and ${canary}`
    expect(open(true).freeText(text)).toContain('app on db.example.com')
    expect(open(true).freeText(text)).not.toContain(canary)
  })

  it('does not take a name for a pattern', () => {
    const odd = new Redaction({
      redact: (text) => text,
      names: { hosts: ['a.b$&', '(x'], users: ['$1'], databases: [], folders: [] },
      withNames: false
    })
    expect(odd.freeText('a.b$& axb (x $1')).toBe('host-1 axb host-2 [user]')
  })

  it('takes time in proportion to its length', () => {
    const text = `${'1.'.repeat(50_000)} ${':'.repeat(50_000)} ${'a:'.repeat(50_000)}`
    const from = performance.now()
    open().freeText(text)
    expect(performance.now() - from).toBeLessThan(2_000)
  })
})

it('values keep types and codes, and lose secrets at any depth', () => {
  const value = { type: 'orders.app', n: 1, list: [{ text: `Bearer ${canary}`, none: null }] }
  const clean = open().values(value)
  expect(clean).toMatchObject({ type: 'orders.app', n: 1, list: [{ none: null }] })
  expect(JSON.stringify(clean)).not.toContain(canary)
})

it('a machine has the same stand-in everywhere', () => {
  expect([open().host('Worker-7'), open().host('unheard'), open(true).host('Worker-7')]).toEqual([
    'host-3',
    'host',
    'Worker-7'
  ])
})
