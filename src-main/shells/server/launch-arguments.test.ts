import { describe, expect, it } from 'vitest'
import { parseLaunchArguments } from './launch-arguments.ts'

describe('arguments of the server shell', () => {
  it('has defaults for all of them', () => {
    expect(parseLaunchArguments([])).toEqual({ port: 0, data: null, demo: false, metricsPort: null })
  })

  it('takes port, data folder, demo and port of the metrics', () => {
    const args = ['--port', '8080', '--data', '/tmp/ä b', '--demo', '--metrics-port', '9465']
    expect(parseLaunchArguments(args)).toEqual({
      port: 8080,
      data: '/tmp/ä b',
      demo: true,
      metricsPort: 9465
    })
  })

  it.each([
    [['--port', '65536'], /--port takes a number from 0 to 65535/],
    [['--port', 'http'], /--port takes a number/],
    [['--metrics-port', '-1'], /--metrics-port/],
    [['--metrics-port', '9465x'], /--metrics-port takes a number/],
    [['--data', ''], /--data takes/],
    [['--host', '0.0.0.0'], /--host/],
    [['extra'], /extra/]
  ])('refuses %j with the usage', (args, message) => {
    expect(() => parseLaunchArguments(args)).toThrow(message)
    expect(() => parseLaunchArguments(args)).toThrow(/usage:/)
  })
})
