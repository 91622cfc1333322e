import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { parseWorkerArguments, queueName } from './worker-arguments.ts'

const parse = (args: string[], env: NodeJS.ProcessEnv = { TASKDECK_CONNECTION: 'sqlite:/data/queue.sqlite' }) =>
  parseWorkerArguments(args, env, '/here')

describe('parseWorkerArguments', () => {
  it('has defaults for all but the connection', () => {
    expect(parse([])).toMatchObject({
      connection: { kind: 'sqlite', file: '/data/queue.sqlite' },
      handlersDir: null,
      concurrency: 4,
      leaseMs: 30_000,
      graceMs: 20_000,
      migrate: false
    })
  })

  it('reads a server from the environment, and an option before it', () => {
    const env = { TASKDECK_CONNECTION: 'mysql://ada:s%40crt@db:3307/queue' }
    expect(parse([], env).connection).toMatchObject({
      kind: 'mysql',
      login: { host: 'db', port: 3307, user: 'ada', password: 's@crt', database: 'queue' }
    })
    expect(parse(['--connection', 'sqlite:q.sqlite'], env).connection).toEqual({
      kind: 'sqlite',
      file: '/here/q.sqlite'
    })
  })

  it('offers metrics on the port that is named, and on none by default', () => {
    expect(parse([]).metricsPort).toBeNull()
    expect(parse(['--metrics-port', '0']).metricsPort).toBe(0)
  })

  it('takes names of sensitive fields, and has none beside the built-in ones by default', () => {
    expect(parse([]).sensitiveKeys).toEqual([])
    expect(parse(['--sensitive', 'salary,home address,工资']).sensitiveKeys).toEqual(['salary', 'home address', '工资'])
  })

  it('takes a folder that exists', () => expect(parse(['--handlers', tmpdir()]).handlersDir).toBe(tmpdir()))

  it.each([
    [[], {}, /TASKDECK_CONNECTION/],
    [['--connection', 'postgres://x'], {}, /mysql:\/\/ or sqlite:/],
    [['--connection', 'sqlite:'], {}, /path of the file/],
    [['--concurrency', '0'], undefined, /1 to 1000/],
    [['--concurrency', '4.5'], undefined, /whole number/],
    [['--lease-ms', 'soon'], undefined, /--lease-ms/],
    [['--metrics-port', '65536'], undefined, /--metrics-port must be a whole number from 0 to 65535/],
    [['--handlers', '/no/such/folder'], undefined, /not a folder/],
    [['--sensitive', 'salary,'], undefined, /--sensitive takes at most 100 names of at most 64 characters/],
    [['--sensitive', 'x'.repeat(65)], undefined, /--sensitive/],
    [['--id', 'two words'], undefined, /--id/],
    [['--what'], undefined, /--what/]
  ] as const)('refuses %j with a message that says what to do', (args, env, message) => {
    expect(() => parse([...args], env)).toThrow(message)
  })

  it('never repeats what may hold a password', () => {
    const secret = 'mysql://ada:s3cr3t@db/queue?x=y'
    for (const args of [['--connection', secret], [secret], [`--conection=${secret}`]]) {
      let message = ''
      try {
        parse(args)
      } catch (error) {
        message = String(error)
      }
      expect(message).not.toBe('')
      expect(message).not.toContain('s3cr3t')
    }
  })

  it('shows its help without a connection', () => expect(parse(['--help'], {}).help).toBe(true))

  it('names the queue without its password', () => {
    const named = (TASKDECK_CONNECTION: string): string => {
      const { connection } = parse([], { TASKDECK_CONNECTION })
      return connection ? queueName(connection) : ''
    }
    expect(named('mysql://ada:s%40crt@db:3307/queue')).toBe('queue on db:3307 as ada')
    expect(named('mysql://ada:s%40crt@[::1]/queue')).toBe('queue on [::1]:3306 as ada')
    expect(named('sqlite:q.sqlite')).toBe('/here/q.sqlite')
  })
})
