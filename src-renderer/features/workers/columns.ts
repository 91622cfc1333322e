/** Columns of the table, in order, and their narrowest useful width, px; `why` takes what is left over. */
export const columnWidths = {
  id: 116,
  health: 96,
  why: 132,
  slots: 92,
  running: 64,
  queued: 64,
  threads: 66,
  heartbeat: 82,
  poll: 78,
  claim: 82,
  claimP95: 80,
  database: 82,
  version: 84,
  host: 170,
  menu: 30
} as const
export type WorkerColumn = keyof typeof columnWidths

/** What goes first when there is no room: the title of a worker's name has the first two, the facts above the table the next. */
const expendable: readonly WorkerColumn[] = ['version', 'host', 'threads', 'queued', 'claimP95', 'claim', 'poll']

/** The columns that fit into `width` px, so that the table never scrolls sideways on a window that is wide enough to work in. */
export function columnsThatFit(width: number): WorkerColumn[] {
  let shown = Object.keys(columnWidths) as WorkerColumn[]
  const needed = (): number => shown.reduce((sum, name) => sum + columnWidths[name], 0)
  for (const name of expendable) {
    if (needed() <= width) break
    shown = shown.filter((one) => one !== name)
  }
  return shown
}
