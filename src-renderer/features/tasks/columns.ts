/** Columns of the list, in order. Widths are px; those without one share what is left. */
export const columnWidths = {
  state: 142,
  id: 92,
  type: 140,
  title: 120,
  attempt: 52,
  age: 84,
  worker: 104,
  error: 168
} as const
export type ColumnName = keyof typeof columnWidths

/** What goes first when there is no room: the drawer has it, or a filter says it. */
const expendable: readonly ColumnName[] = ['worker', 'type', 'error', 'title']

/** The columns that fit into `width` px. With one type in the filters its column says nothing and goes first. */
export function columnsThatFit(width: number, typeIsFixed: boolean): ColumnName[] {
  const order = typeIsFixed ? (['type', ...expendable.filter((name) => name !== 'type')] as const) : expendable
  let shown = Object.keys(columnWidths) as ColumnName[]
  const needed = (): number => shown.reduce((sum, name) => sum + columnWidths[name], 0)
  for (const name of order) {
    if (needed() <= width) break
    shown = shown.filter((one) => one !== name)
  }
  return shown
}
