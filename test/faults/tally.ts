/** What was injected how often, and what could not be, and why. */
export interface Tally {
  readonly injected: Map<string, number>
  readonly notRun: Record<string, string>
}

/** Of a kind that has forms, each form is counted for itself: `F4 reset`. */
export function add({ injected }: Tally, id: string, count: number | Readonly<Record<string, number>>): void {
  const forms = typeof count === 'number' ? [[id, count] as const] : prefixed(id, count)
  for (const [name, times] of forms) injected.set(name, (injected.get(name) ?? 0) + times)
}

const prefixed = (id: string, counts: Readonly<Record<string, number>>): (readonly [string, number])[] =>
  Object.entries(counts).map(([form, count]) => [`${id} ${form}`, count])
