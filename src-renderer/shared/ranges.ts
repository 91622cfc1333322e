/** The time ranges that every chart and list offers, as they stand in the route. */
export const rangeNames = ['15m', '1h', '6h', '24h', '7d', '30d', '90d'] as const
export type RangeName = (typeof rangeNames)[number]

export const rangeMs: Record<RangeName, number> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
  '90d': 7_776_000_000
}

export function toRange(text: unknown): RangeName {
  return rangeNames.find((name) => name === text) ?? '1h'
}
