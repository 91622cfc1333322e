import type { LocationQuery, LocationQueryRaw } from 'vue-router'
import { taskLimits, taskStates, type TaskFilter, type TaskState } from '@contract'

/** What the list is narrowed to; each part is a key of the address. Empty means any. */
export interface TaskFilters {
  readonly states: readonly TaskState[]
  readonly types: readonly string[]
  readonly owner: string
  readonly worker: string
  readonly error: string
  readonly search: string
}

/** Parts that are one text. */
const textParts = ['owner', 'worker', 'error', 'search'] as const
export type TextPart = (typeof textParts)[number]

export const noFilters: TaskFilters = { states: [], types: [], owner: '', worker: '', error: '', search: '' }

/** The contract's limits: an address with longer texts is cut, not refused. */
const longest: Record<TextPart, number> = {
  owner: taskLimits.ownerLength,
  worker: 100,
  error: 64,
  search: taskLimits.keyLength
}
const mostTypes = 50

const textOf = (query: LocationQuery, key: string): string => {
  const value = query[key]
  return typeof value === 'string' ? value : ''
}
const listOf = (query: LocationQuery, key: string): string[] => [
  ...new Set(
    textOf(query, key)
      .split(',')
      .filter((part) => part !== '')
  )
]

/** Reads the address; what is no state is left out. */
export function filtersOf(query: LocationQuery): TaskFilters {
  const part = (key: TextPart): string => textOf(query, key).trim().slice(0, longest[key])
  return {
    states: taskStates.filter((state) => listOf(query, 'state').includes(state)),
    types: listOf(query, 'type')
      .map((type) => type.slice(0, taskLimits.typeLength))
      .slice(0, mostTypes),
    owner: part('owner'),
    worker: part('worker'),
    error: part('error'),
    search: part('search')
  }
}

/** The address with these filters; everything else in it stays. */
export function queryWith(query: LocationQuery, filters: TaskFilters): LocationQueryRaw {
  const next: LocationQueryRaw = { ...query }
  const values: Record<string, string> = {
    state: filters.states.join(','),
    type: filters.types.join(','),
    owner: filters.owner.trim(),
    worker: filters.worker.trim(),
    error: filters.error.trim(),
    search: filters.search.trim()
  }
  for (const [key, value] of Object.entries(values)) {
    if (value === '') delete next[key]
    else next[key] = value
  }
  return next
}

export function toContract(filters: TaskFilters): Partial<TaskFilter> {
  return {
    states: [...filters.states],
    types: [...filters.types],
    owner: filters.owner || null,
    workerId: filters.worker || null,
    errorCode: filters.error || null,
    search: filters.search || null
  }
}

export const isFiltered = (filters: TaskFilters): boolean =>
  filters.states.length > 0 || filters.types.length > 0 || textParts.some((part) => filters[part] !== '')

/** The states with one added or taken away, in their usual order. */
export function toggled(states: readonly TaskState[], state: TaskState): TaskState[] {
  const next = states.includes(state) ? states.filter((one) => one !== state) : [...states, state]
  return taskStates.filter((one) => next.includes(one))
}
