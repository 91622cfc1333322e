/** The table whose rows are tasks; its primary key is the task's id. */
export const taskTable = 'taskdeck_task'

/** Where the task's id stands in an entry of an index; in others InnoDB appends it at the end. */
const placeOfId: Readonly<Record<string, number>> = { PRIMARY: 0, taskdeck_task_claim: 3, taskdeck_task_turn: 4 }

/** A lock on what comes after the last entry: no row. */
const afterLast = 'supremum pseudo-record'

/**
 * The id of the task whose row or index entry is locked, from how the server writes the entry: `42` or `5, 'mail', 0x99.., 42`. null for a
 * gap at the end, for an entry that was cut, and for whatever else is no id. Nothing but digits ever leaves here.
 */
export function taskIdOf(index: string | null, lockData: string | null): string | null {
  if (index === null || lockData === null || lockData.startsWith(afterLast)) return null
  const values = valuesOf(lockData)
  const value = values.at(placeOfId[index] ?? -1)
  return value !== undefined && /^[1-9]\d{0,19}$/.test(value) ? value : null
}

/** The entry's values; commas in quotes do not part them. */
function valuesOf(lockData: string): string[] {
  return (lockData.match(/\s*'(?:[^']|'')*'|[^,]+/g) ?? []).map((value) => value.trim()).filter((value) => value !== '')
}

/** `orders`.`taskdeck_task` as its table; a name that cannot be read stays whole. Partitions are left out. */
export function tableOf(name: string): string {
  const parts = name.match(/`(?:[^`]|``)*`|[^.`/ ]+/g) ?? []
  return (parts[1] ?? name).replace(/^`|`$/g, '').replaceAll('``', '`')
}
