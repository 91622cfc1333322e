import { expect, it } from 'vitest'
import { LatencyWindow } from './latency-window.ts'

it('knows nothing before the first measurement', () => expect(new LatencyWindow().percentiles()).toBeNull())

it('gives percentiles of the newest measurements', () => {
  const window = new LatencyWindow()
  for (let ms = 1; ms <= 100; ms++) window.add(ms)
  expect(window.percentiles()).toEqual({ p50: 50, p95: 95, p99: 99 })
  for (let times = 0; times < 512; times++) window.add(7)
  expect(window.percentiles()).toEqual({ p50: 7, p95: 7, p99: 7 })
})
