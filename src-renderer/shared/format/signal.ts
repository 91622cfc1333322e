import type { AlertSignal } from '@contract'
import { count, duration, percent, unknown } from './format.ts'

/** What an alert's figure counts in. Names are `alerts.signal.SIGNAL` in the i18n files. */
export type SignalUnit = 'duration' | 'share' | 'count' | 'perMinute'

export const signalUnit: Record<AlertSignal, SignalUnit> = {
  oldestMs: 'duration',
  failureRate: 'share',
  recoveredRise: 'count',
  workersSilent: 'count',
  poolUse: 'share',
  databaseUse: 'share',
  claimP95: 'duration',
  progressStopped: 'count',
  growth: 'perMinute',
  schedulesLate: 'count',
  blindMs: 'duration'
}

const thin = '\u2009'

/** The figure as it is read: 21.9 %, 16 m 48 s, 24, 120 / min. */
export function signalText(signal: AlertSignal, value: number | null): string {
  if (value === null) return unknown
  const unit = signalUnit[signal]
  if (unit === 'duration') return duration(value)
  if (unit === 'share') return percent(value)
  return unit === 'count' ? count(value) : `${count(value)}${thin}/${thin}min`
}

/** A threshold, which is round: 10 %, 5 m. `parseSignal` reads it again. */
export function limitText(signal: AlertSignal, value: number): string {
  const unit = signalUnit[signal]
  if (unit === 'duration') return exactDuration(value)
  if (unit === 'share') return `${Number((value * 100).toFixed(2))}${thin}%`
  return unit === 'count' ? String(value) : `${value}${thin}/${thin}min`
}

/** What was typed as a threshold; null when it is none, or a share that nothing exceeds. A bare number is a percentage, seconds, or a count. */
export function parseSignal(signal: AlertSignal, text: string): number | null {
  const unit = signalUnit[signal]
  if (unit === 'duration') return parseDuration(text)
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*(%|\/\s*min)?\s*$/.exec(text)
  if (!found) return null
  const value = Number(found[1]?.replace(',', '.'))
  if (unit === 'share') return (found[2] === undefined || found[2] === '%') && value < 100 ? round(value / 100) : null
  return found[2] === '%' ? null : value
}

/** In the largest unit that writes it in full: 5 m, 1.5 h, 95 s. */
export function exactDuration(ms: number): string {
  const names = ['d', 'h', 'm', 's', 'ms'] as const
  const name = names.find((one) => ms >= (unitMs[one] ?? 1) && Number.isInteger((ms / (unitMs[one] ?? 1)) * 10))
  if (ms === 0 || name === undefined) return ms === 0 ? `0${thin}s` : `${ms}${thin}ms`
  return `${ms / (unitMs[name] ?? 1)}${thin}${name}`
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000
}

/** `2 m`, `1 h 30 m`, `90` (seconds); null when it is no duration. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim().toLowerCase()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1_000)
  const parts = [...trimmed.matchAll(/(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)/g)]
  if (parts.length === 0 || trimmed.replace(/(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)/g, '').trim() !== '') return null
  return Math.round(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0))
}

const round = (value: number): number => Number(value.toFixed(6))
