import { describe, expect, it } from 'vitest'
import { points } from './alerts.fixture.ts'
import { worstTypes } from './worst-type.ts'

describe('the type that makes a figure of the whole queue', () => {
  const busy = [
    ...points({ oldestMs: 900, ended5m: 1_003, failureRate: 0.2, in1m: 60, out1m: 20, 'depth.RUNNING': 9 }),
    ...points({ oldestMs: 900, ended5m: 3, failureRate: 1, in1m: 10, out1m: 0, 'depth.RUNNING': 3 }, 'mail'),
    ...points({ oldestMs: 5, ended5m: 1_000, failureRate: 0.198, in1m: 50, out1m: 20, 'depth.RUNNING': 6 }, 'pdf')
  ]

  it('is the one that waits longest, has the most failures, grows most or runs without an end', () => {
    const of = worstTypes(busy)
    expect(of('oldestMs')).toEqual({ type: 'mail', value: 900 })
    expect(of('failureRate')).toEqual({ type: 'pdf', value: 0.198 })
    expect(of('growth')).toEqual({ type: 'pdf', value: 30 })
    expect(of('progressStopped')).toEqual({ type: 'mail', value: 3 })
  })

  it('is none where types have nothing to do with it, are not known, or none is to blame', () => {
    expect(worstTypes(busy)('poolUse')).toBeNull()
    expect(worstTypes(busy)('recoveredRise')).toBeNull()
    expect(worstTypes([])('failureRate')).toBeNull()
    expect(worstTypes(points({ failureRate: 0, ended5m: 50 }, 'mail'))('failureRate')).toBeNull()
    expect(worstTypes([...points({ oldestMs: 900 }), ...points({ oldestMs: 5 }, 'mail')])('oldestMs')).toBeNull()
  })
})
