import type { TaskSummary } from '@contract'

/** One page as it was read: where it began, and what it held. Newest first by id. */
export interface ReadPage {
  /** What the page was asked with; null is the first page. */
  readonly cursor: string | null
  readonly rows: readonly TaskSummary[]
  readonly isLast: boolean
}

export interface Merged {
  readonly rows: readonly TaskSummary[]
  /** Shown, but the page has them no more: they do not fit the filters any longer. */
  readonly left: ReadonlySet<string>
  /** On the page and not shown. */
  readonly unseen: readonly TaskSummary[]
}

/** Ids are whole numbers that a JavaScript number cannot hold: longer is larger. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}

/**
 * Takes a page that was read again into the rows on screen without moving one of them: known rows are replaced where they stand,
 * rows that fell out of the filters stay and are named, new ones are only counted.
 */
export function mergePage(shown: readonly TaskSummary[], left: ReadonlySet<string>, page: ReadPage): Merged {
  const byId = new Map(page.rows.map((row) => [row.id, row]))
  const lowest = page.isLast ? null : (page.rows.at(-1)?.id ?? null)
  const nextLeft = new Set(left)
  let below = page.cursor === null
  const rows = shown.map((row) => {
    const inPage = below && (lowest === null || compareIds(row.id, lowest) >= 0)
    if (row.id === page.cursor) below = true
    const fresh = byId.get(row.id)
    if (fresh) nextLeft.delete(row.id)
    else if (inPage) nextLeft.add(row.id)
    return fresh ?? row
  })
  const known = new Set(shown.map((row) => row.id))
  return { rows, left: nextLeft, unseen: page.rows.filter((row) => !known.has(row.id)) }
}

/** A following page behind the rows, each id once. */
export function appendPage(shown: readonly TaskSummary[], more: readonly TaskSummary[]): TaskSummary[] {
  const known = new Set(shown.map((row) => row.id))
  return [...shown, ...more.filter((row) => !known.has(row.id))]
}
