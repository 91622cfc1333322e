import { silenceMs, type LinkState } from '@contract'

export interface Freshness {
  /** `frame.freshness.KIND` in the i18n files. A live link is late once the sampler has been silent for longer than its slowest pace. */
  readonly kind: 'live' | 'late' | 'offline' | 'neverRead' | 'connecting' | 'schema' | 'locked'
  /** The moment that the text names, null where it names none. */
  readonly at: number | null
}

/** How much the picture can be believed. */
export function freshnessOf(link: LinkState, now: number): Freshness {
  switch (link.status) {
    case 'live':
      return { kind: now - link.lastReadingAt > silenceMs ? 'late' : 'live', at: link.lastReadingAt }
    case 'lost':
      return link.since === null ? { kind: 'neverRead', at: null } : { kind: 'offline', at: link.since }
    case 'schema':
      return { kind: 'schema', at: null }
    case 'locked':
      return { kind: 'locked', at: null }
    case 'connecting':
      return { kind: 'connecting', at: null }
  }
}
