import { describe, expect, it } from 'vitest'
import { parseStatusArguments } from './status-arguments.ts'

const canary = 'cnry7f3a9c11d2'
const parse = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  parseStatusArguments(args, { env: { XDG_DATA_HOME: '/x', ...env }, cwd: '/work', platform: 'linux' })

describe('arguments of the status command', () => {
  it('has defaults for all of them', () => {
    const target = { kind: 'connection', name: null }
    expect(parse([])).toEqual({
      help: false,
      target,
      profile: null,
      dataDir: '/x/taskdeck',
      timeoutMs: 20_000,
      json: false
    })
  })

  it('takes a connection, a folder where the user is, and a time', () => {
    expect(parse(['--connection', 'A b', '--data', 'mine', '--timeout', '5', '--json'])).toMatchObject({
      target: { kind: 'connection', name: 'A b' },
      dataDir: '/work/mine',
      timeoutMs: 5_000,
      json: true
    })
  })

  it('takes an address, from the environment too, and rather what is written', () => {
    expect(parse(['--url', 'sqlite:q.db']).target).toEqual({ kind: 'sqlite', file: '/work/q.db' })
    expect(parse([], { TASKDECK_CONNECTION: 'mysql://u:p@h/d' }).target).toMatchObject({
      kind: 'mysql',
      login: { host: 'h', user: 'u', password: 'p', database: 'd' }
    })
    const env = { TASKDECK_CONNECTION: 'sqlite:/other' }
    expect(parse(['--connection', 'A'], env).target).toEqual({ kind: 'connection', name: 'A' })
    expect(parse(['--url', 'sqlite:/mine'], env).target).toEqual({ kind: 'sqlite', file: '/mine' })
  })

  it('takes the profile of a table that is not ours, from where the user is', () => {
    expect(parse(['--url', 'mysql://u:p@h/d', '--profile', 'jobs.json'])).toMatchObject({
      target: { kind: 'mysql' },
      profile: '/work/jobs.json'
    })
  })

  it('knows what helps whatever the environment says', () => {
    expect(parse(['--help'], { TASKDECK_CONNECTION: 'nonsense' }).help).toBe(true)
  })

  it.each([
    [['--colour'], /There is no option --colour; see --help/],
    [['--url', 'sqlite:x', '--connection', 'y'], /not both/],
    [['--connection', ''], /--connection needs a name/],
    [['--data', ''], /--data needs a folder/],
    [['--profile', ''], /--profile needs a file/],
    [['--url', 'sqlite:x', '--profile', 'y'], /--profile is for tables in MySQL or MariaDB/],
    [['--timeout', '0'], /--timeout/],
    [['--timeout', '1e3'], /--timeout/],
    [['--url', `postgres://u:${canary}@h/d`], /must start with mysql/],
    [['--url', `mysql://u:${canary}@h`], /one database name/],
    [[`mysql://u:${canary}@h/d`], /Every argument must be an option/],
    [['--url', 'sqlite:'], /must start with/]
  ])('refuses %j with its reason, and repeats no address', (args, reason) => {
    expect(() => parse(args)).toThrow(reason)
    expect(() => parse(args)).not.toThrow(canary)
  })
})
