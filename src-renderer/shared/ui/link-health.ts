import type { LinkState } from '@contract'
import type { HealthKind } from './Health.vue'

/** A link's state; `unknown` while the app, which tells it, does not answer itself. `link.STATUS` in the i18n files. */
export type ShownLink = LinkState['status'] | 'unknown'

/** What is true of a link now. */
export const shownLink = (link: LinkState, appAnswers: boolean): ShownLink => (appAnswers ? link.status : 'unknown')

/** A link's state as a mark. */
export function linkHealth(link: ShownLink): HealthKind {
  const marks: Record<ShownLink, HealthKind> = {
    unknown: 'unknown',
    connecting: 'unknown',
    live: 'ok',
    lost: 'lost',
    schema: 'look',
    locked: 'look'
  }
  return marks[link]
}
