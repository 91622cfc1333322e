import { describe, expect, it } from 'vitest'
import { parseLaunchArguments } from './launch-arguments.ts'

describe('arguments of the desktop shell', () => {
  it('finds ours among those of Chromium', () => {
    expect(parseLaunchArguments(['.', '--no-sandbox', '--data', '/tmp/a b', '--demo', '--inspect=0'])).toEqual({
      data: '/tmp/a b',
      demo: true,
      metricsPort: null
    })
    expect(parseLaunchArguments(['--data=/tmp/x'])).toEqual({ data: '/tmp/x', demo: false, metricsPort: null })
  })

  it('does not take a switch for a folder', () => {
    expect(parseLaunchArguments(['--data', '--demo'])).toMatchObject({ data: null, demo: true })
    expect(parseLaunchArguments(['--data'])).toMatchObject({ data: null, demo: false })
  })

  it.each([
    ['9465', 9465],
    ['0', 0],
    ['65536', null],
    ['9465;x', null],
    ['--demo', null]
  ])('takes %s as a port for metrics, or for none', (text, port) => {
    expect(parseLaunchArguments(['--metrics-port', text]).metricsPort).toBe(port)
    if (port !== null) expect(parseLaunchArguments([`--metrics-port=${text}`]).metricsPort).toBe(port)
  })
})
