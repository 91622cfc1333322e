import type { ConnectionView } from '@contract'

const foreignPages = ['tasks', 'workers', 'capacity'] as const
export type ForeignPageName = (typeof foreignPages)[number]

/** The page that stands in for one of tasks or workers where the table is another application's: there is nothing to ask for. */
export function foreignPageOf(
  connection: ConnectionView | undefined,
  routeName: unknown
): { readonly page: ForeignPageName; readonly connection: ConnectionView } | null {
  const page = foreignPages.find((name) => name === routeName)
  return connection?.profile && page ? { page, connection } : null
}
