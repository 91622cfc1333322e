/** One formatter for each kind of number. Unknown is always an en dash, never 0. Units are international symbols. */
const thin = '\u2009'
export const unknown = '–'
type Maybe = number | null | undefined

const isUnknown = (n: Maybe): n is null | undefined => n === null || n === undefined || Number.isNaN(n)

/** 18,462. */
export function count(n: Maybe): string {
  return isUnknown(n) ? unknown : Math.round(n).toLocaleString('en-US')
}

/** 18,462 -> 18.5k: on axes and in narrow cells only. */
export function shortCount(n: Maybe): string {
  if (isUnknown(n)) return unknown
  const size = Math.abs(n)
  if (size >= 999_500) return `${(n / 1e6).toFixed(1).replace(/\.0$/, '')}M`
  if (size >= 99_950) return `${Math.round(n / 1e3)}k`
  if (size >= 1000) return `${(n / 1e3).toFixed(1).replace(/\.0$/, '')}k`
  return String(Math.round(n))
}

/** A fraction (0 to 1) as `21.9 %`. */
export function percent(fraction: Maybe, digits = 1): string {
  return isUnknown(fraction) ? unknown : `${(fraction * 100).toFixed(digits)}${thin}%`
}

/** Two units at most: 480 ms, 4.2 s, 41 s, 16 m 48 s, 3 h 05 m, 2 d 4 h. Negative ages (a clock ahead) read as 0. */
export function duration(milliseconds: Maybe): string {
  if (isUnknown(milliseconds)) return unknown
  const ms = Math.max(0, milliseconds)
  if (ms < 999.5) return `${Math.round(ms)}${thin}ms`
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)}${thin}s`
  const s = Math.round(ms / 1000)
  if (s < 60) return `${s}${thin}s`
  if (s < 3600) return `${Math.floor(s / 60)}${thin}m ${two(s % 60)}${thin}s`
  if (s < 86_400) return `${Math.floor(s / 3600)}${thin}h ${two(Math.floor((s % 3600) / 60))}${thin}m`
  return `${Math.floor(s / 86_400)}${thin}d ${Math.floor((s % 86_400) / 3600)}${thin}h`
}

/** For axes and thresholds, where the value is round: 0, 500 ms, 30 s, 5 m, 2 h. */
export function shortDuration(milliseconds: Maybe): string {
  if (isUnknown(milliseconds)) return unknown
  const units: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1000, 's'],
    [1, 'ms']
  ]
  if (milliseconds === 0) return '0'
  const [size, unit] = units.find(([ms]) => milliseconds >= ms) ?? [1, 'ms']
  return `${Number((milliseconds / size).toFixed(1))}${thin}${unit}`
}

/** 1,536 -> 1.5 KiB. */
export function bytes(n: Maybe): string {
  if (isUnknown(n)) return unknown
  const units = ['B', 'KiB', 'MiB', 'GiB']
  const step = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log2(n) / 10))
  return `${Number((n / 1024 ** step).toFixed(1))}${thin}${units[step]}`
}

const two = (n: number): string => String(n).padStart(2, '0')
const part = (at: number, from: number, to: number): string => new Date(at).toISOString().slice(from, to)

/** 14:02, UTC; the reader is told the zone beside it. */
export const clock = (at: Maybe): string => (isUnknown(at) ? unknown : part(at, 11, 16))
/** 14:02:31, UTC. */
export const clockSeconds = (at: Maybe): string => (isUnknown(at) ? unknown : part(at, 11, 19))
/** 2026-03-12 14:02:31 UTC. */
export const stamp = (at: Maybe): string => (isUnknown(at) ? unknown : `${part(at, 0, 10)} ${part(at, 11, 19)} UTC`)
/** The reader's own zone, for a tooltip beside `stamp`: 2026-03-12 19:32:31 GMT+5:30. */
export function localStamp(at: Maybe): string {
  if (isUnknown(at)) return unknown
  const date = new Date(at)
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return `${day} ${time} ${zoneName(-date.getTimezoneOffset())}`
}
/** Minutes ahead of UTC. `Intl` would say the same, at the cost of a formatter a call. */
function zoneName(offset: number): string {
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  if (offset === 0) return 'GMT'
  return `GMT${offset < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${two(minutes)}`}`
}
/** 14:02 on the reader's UTC day, otherwise 03-12 14:02. */
export function clockOrDay(at: Maybe, now: number): string {
  if (isUnknown(at)) return unknown
  return part(at, 0, 10) === part(now, 0, 10) ? part(at, 11, 16) : `${part(at, 5, 10)} ${part(at, 11, 16)}`
}
