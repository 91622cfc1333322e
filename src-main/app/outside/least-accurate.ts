import type { Accuracy } from '../../kernel/index.ts'

const order: readonly Accuracy[] = ['exact', 'atLeast', 'about']

/** Of a sum: the accuracy of its least accurate part; left out means exact. */
export function leastAccurate(parts: readonly (Accuracy | undefined)[]): Accuracy {
  const ranks = parts.map((part) => order.indexOf(part ?? 'exact'))
  return order[Math.max(0, ...ranks)] ?? 'exact'
}
