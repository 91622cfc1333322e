import type { Delivery } from '@contract'
import { duration } from '@/shared/format/format.ts'

/** "on-call 200 OK in 88 ms", or that it failed and why. The answer is the receiver's own words. */
export function deliveryText(
  one: Delivery,
  name: string,
  t: (key: string, values: Record<string, unknown>, plural: number) => string
): string {
  const values = { name, answer: one.answer, ms: duration(one.ms), tries: one.tries }
  const text = (how: string): string => t(`alerts.delivery.${how}`, values, one.tries)
  if (one.status === 'sending' || one.status === 'failed') return text(one.status)
  if (one.answer === '') return text('shown')
  return text(one.ms === null ? 'answered' : 'delivered')
}
