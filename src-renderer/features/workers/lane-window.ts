/** How far back the lanes reach, as it stands in the route. */
export const laneWindowNames = ['2m', '10m', '30m', '1h'] as const
export type LaneWindowName = (typeof laneWindowNames)[number]

export const laneWindowMs: Record<LaneWindowName, number> = {
  '2m': 120_000,
  '10m': 600_000,
  '30m': 1_800_000,
  '1h': 3_600_000
}

export const toLaneWindow = (text: string | null): LaneWindowName =>
  laneWindowNames.find((name) => name === text) ?? '10m'
