import { describe, expect, it } from 'vitest'
import { parseLaunchArguments } from './launch-arguments.ts'

describe('arguments of the desktop shell', () => {
  it('finds ours among those of Chromium', () => {
    expect(parseLaunchArguments(['.', '--no-sandbox', '--data', '/tmp/a b', '--demo', '--inspect=0'])).toEqual({
      data: '/tmp/a b',
      demo: true
    })
    expect(parseLaunchArguments(['--data=/tmp/x'])).toEqual({ data: '/tmp/x', demo: false })
  })

  it('does not take a switch for a folder', () => {
    expect(parseLaunchArguments(['--data', '--demo'])).toEqual({ data: null, demo: true })
    expect(parseLaunchArguments(['--data'])).toEqual({ data: null, demo: false })
  })
})
