/** How long a silence may be chosen to last, ms. The app takes a minute to 30 days. */
export const silenceLengths = [
  { name: '30m', ms: 1_800_000 },
  { name: '1h', ms: 3_600_000 },
  { name: '4h', ms: 14_400_000 },
  { name: '12h', ms: 43_200_000 },
  { name: '1d', ms: 86_400_000 },
  { name: '7d', ms: 604_800_000 }
] as const

export const longestSilenceMs = 30 * 86_400_000
export const shortestSilenceMs = 60_000
