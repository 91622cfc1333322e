import { describe, expect, it } from 'vitest'
import { parseLaunchArguments } from './launch-arguments.ts'

describe('arguments of the server shell', () => {
  it('has defaults for all of them', () => {
    expect(parseLaunchArguments([])).toEqual({ port: 0, data: null, demo: false })
  })

  it('takes port, data folder and demo', () => {
    expect(parseLaunchArguments(['--port', '8080', '--data', '/tmp/ä b', '--demo'])).toEqual({
      port: 8080,
      data: '/tmp/ä b',
      demo: true
    })
  })

  it.each([
    [['--port', '65536'], /--port takes a number from 0 to 65535/],
    [['--port', 'http'], /--port takes a number/],
    [['--data', ''], /--data takes/],
    [['--host', '0.0.0.0'], /--host/],
    [['extra'], /extra/]
  ])('refuses %j with the usage', (args, message) => {
    expect(() => parseLaunchArguments(args)).toThrow(message)
    expect(() => parseLaunchArguments(args)).toThrow(/usage:/)
  })
})
