/** What every bench and fault command prints with `--json`; see docs/performance.md. */
export interface Goal {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** In words a reader can check, such as ">= 0.6" or "0". */
  readonly goal: string
  readonly holds: boolean
}

export const atLeast = (name: string, value: number, unit: string, least: number): Goal => ({
  name,
  value: round(value),
  unit,
  goal: `>= ${least}`,
  holds: value >= least
})
export const atMost = (name: string, value: number, unit: string, most: number): Goal => ({
  name,
  value: round(value),
  unit,
  goal: `<= ${most}`,
  holds: value <= most
})
export const exactly = (name: string, value: number, unit: string, wanted: number): Goal => ({
  name,
  value,
  unit,
  goal: `= ${wanted}`,
  holds: value === wanted
})

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const round = (value: number): number => Number(value.toPrecision(4))

/** Prints facts and goals (the last line is one JSON object with `--json`) and sets the exit code to 1 when a goal does not hold. */
export function finish(facts: Readonly<Record<string, unknown>>, goals: readonly Goal[], json: boolean): void {
  if (json) console.log(JSON.stringify({ ...facts, goals }))
  else {
    for (const [name, value] of Object.entries(facts)) console.log(`${name}: ${JSON.stringify(value)}`)
    for (const goal of goals)
      console.log(`${goal.holds ? 'holds ' : 'BROKEN'} ${goal.name}: ${goal.value} ${goal.unit} (goal ${goal.goal})`)
  }
  if (goals.some((goal) => !goal.holds)) process.exitCode = 1
}
