import type { LinkState } from '@contract'
import type { HealthKind } from './Health.vue'

/** A link's state as a mark. */
export function linkHealth(link: LinkState): HealthKind {
  const marks: Record<LinkState['status'], HealthKind> = {
    connecting: 'unknown',
    live: 'ok',
    lost: 'lost',
    schema: 'look',
    locked: 'look'
  }
  return marks[link.status]
}
