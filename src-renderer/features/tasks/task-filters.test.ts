import { describe, expect, it } from 'vitest'
import { filtersOf, isFiltered, noFilters, queryWith, toContract, toggled, type TaskFilters } from './task-filters.ts'

const full: TaskFilters = {
  states: ['QUEUED', 'FAILED'],
  types: ['import.medical', 'mail.send'],
  owner: 'lab-intake',
  worker: 'imp-03',
  error: 'LAB_GATEWAY_503',
  search: 'Batch KX'
}

describe('filters in the address', () => {
  it('come back as they were written', () => {
    expect(filtersOf(queryWith({}, full) as Record<string, string>)).toEqual(full)
    expect(queryWith({}, noFilters)).toEqual({})
  })

  it('leave the rest of the address alone, and disappear when they are cleared', () => {
    const query = { task: '7', ...(queryWith({}, full) as Record<string, string>) }
    expect(queryWith(query, noFilters)).toEqual({ task: '7' })
  })

  it('drop what is no state, repeat nothing and keep the usual order', () => {
    expect(filtersOf({ state: 'FAILED,OOPS,QUEUED,FAILED,' }).states).toEqual(['QUEUED', 'FAILED'])
    expect(filtersOf({ type: ',a,,a,b' }).types).toEqual(['a', 'b'])
  })

  it('are cut to what the contract takes, so that no address is refused', () => {
    const long = 'x'.repeat(500)
    const filters = filtersOf({ error: long, search: long, type: Array.from({ length: 60 }, (_, i) => `t${i}`).join() })
    expect(filters.error).toHaveLength(64)
    expect(filters.search).toHaveLength(200)
    expect(filters.types).toHaveLength(50)
  })

  it('ask the contract for null where nothing is wanted', () => {
    expect(toContract(noFilters)).toEqual({
      states: [],
      types: [],
      owner: null,
      workerId: null,
      errorCode: null,
      search: null
    })
    expect(isFiltered(noFilters)).toBe(false)
    expect(isFiltered({ ...noFilters, worker: 'w' })).toBe(true)
  })

  it('switch a state on and off', () => {
    expect(toggled(['FAILED'], 'QUEUED')).toEqual(['QUEUED', 'FAILED'])
    expect(toggled(['QUEUED', 'FAILED'], 'QUEUED')).toEqual(['FAILED'])
  })
})
