import type { ConnectionView, LinkState } from '../../contract/index.ts'
import type { Clock, ProbeLimit } from '../../kernel/index.ts'

/** Something that changed, by the app's clock. */
export interface DiaryEntry {
  readonly at: number
  readonly what: 'link' | 'limits'
  readonly text: string
}

/** Of one connection; a link that breaks every minute fills some hours. */
const mostEntries = 500

interface Pages {
  readonly entries: DiaryEntry[]
  link: string
  limits: string
}

/** What changed about each connection in this run: its link, and what the cost guard held back. The newest 500 of each. */
export class Diary {
  private readonly clock: Clock
  private readonly connections = new Map<string, Pages>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  noteLink({ id, link }: ConnectionView): void {
    const pages = this.pagesOf(id)
    const text = linkText(link)
    if (text === pages.link) return
    pages.link = text
    this.add(pages, 'link', text)
  }

  noteLimits(connectionId: string, limits: readonly ProbeLimit[]): void {
    const pages = this.pagesOf(connectionId)
    const text = limits
      // What a table never says was not held back.
      .filter(({ reason }) => reason !== 'schema')
      .map(({ probe, reason }) => `${probe} (${reason})`)
      .sort()
      .join(', ')
    if (text === pages.limits) return
    pages.limits = text
    this.add(pages, 'limits', text === '' ? 'all figures are as asked again' : `held back: ${text}`)
  }

  /** Oldest first, both ends included. */
  entries(connectionId: string, from: number, to: number): DiaryEntry[] {
    const { entries } = this.connections.get(connectionId) ?? { entries: [] }
    return entries.filter(({ at }) => at >= from && at <= to)
  }

  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.connections.keys()) if (!ids.has(id)) this.connections.delete(id)
  }

  private pagesOf(connectionId: string): Pages {
    const known = this.connections.get(connectionId)
    if (known) return known
    const pages: Pages = { entries: [], link: '', limits: '' }
    this.connections.set(connectionId, pages)
    return pages
  }

  private add({ entries }: Pages, what: DiaryEntry['what'], text: string): void {
    entries.push({ at: this.clock.now(), what, text })
    if (entries.length > mostEntries) entries.shift()
  }
}

/** Without times: each retry of a lost link would be a change. */
export function linkText(link: LinkState): string {
  switch (link.status) {
    case 'lost':
      return `lost: ${link.problem.code}: ${link.problem.message}`
    case 'schema':
      if (link.schema === 'missing') return 'tables missing'
      return `tables ${link.schema} (version ${link.version}, this Taskdeck has ${link.latest})`
    case 'locked':
      return link.problem ? `no password: ${link.problem.code}: ${link.problem.message}` : 'no password in this session'
    default:
      return link.status
  }
}
