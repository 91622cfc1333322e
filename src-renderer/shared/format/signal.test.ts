import { describe, expect, it } from 'vitest'
import { alertSignals } from '@contract'
import { limitText, parseDuration, parseSignal, signalText, signalUnit, type SignalUnit } from './signal.ts'

const plain = (text: string): string => text.replaceAll('\u2009', ' ')

describe('an alert figure', () => {
  it('is written in its own unit, and unknown is no zero', () => {
    expect(plain(signalText('failureRate', 0.2189))).toBe('21.9 %')
    expect(plain(signalText('oldestMs', 1_008_000))).toBe('16 m 48 s')
    expect(plain(signalText('growth', 1_240))).toBe('1,240 / min')
    expect(signalText('workersSilent', 0)).toBe('0')
    expect(signalText('claimP95', null)).toBe('–')
  })

  const thresholds: Record<SignalUnit, readonly number[]> = {
    duration: [0, 250, 95_000, 90_000, 5_400_000],
    share: [0, 0.1, 0.025, 0.99],
    count: [0, 200],
    perMinute: [0, 0.5, 200]
  }
  it('has a threshold that is read again as it was written', () => {
    for (const signal of alertSignals) {
      for (const value of thresholds[signalUnit[signal]]) {
        expect(parseSignal(signal, limitText(signal, value)), `${signal} ${value}`).toBe(value)
      }
    }
  })

  it('takes a bare number for percent, seconds or a count, and refuses what belongs to another figure', () => {
    expect(parseSignal('failureRate', '7.5')).toBe(0.075)
    expect(parseSignal('blindMs', '45')).toBe(45_000)
    expect(parseSignal('growth', '200 / min')).toBe(200)
    expect(parseSignal('recoveredRise', '10 %')).toBeNull()
    expect(parseSignal('failureRate', 'much')).toBeNull()
    expect(parseSignal('failureRate', '100 %'), 'nothing is above it').toBeNull()
  })
})

describe('parseDuration', () => {
  it.each([
    ['2 m', 120_000],
    ['1 h 30 m', 5_400_000],
    ['250ms', 250],
    ['5 min', 300_000],
    ['1.5 s', 1_500],
    ['0', 0]
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each(['', 'soon', '5 m ago', '-3 s', '3 weeks'])('refuses %j', (text) => expect(parseDuration(text)).toBeNull())
})
