import { describe, expect, it } from 'vitest'
import type { TaskState, TaskSummary } from '@contract'
import { DemoTasks } from '@/testing/demo-tasks.ts'
import { appendPage, compareIds, mergePage } from './task-merge.ts'

const [any] = new DemoTasks(1, 0).list({ filter: {} }).rows
const row = (id: number, state: TaskState = 'QUEUED'): TaskSummary => ({ ...any!, id: String(id), state })
const ids = (rows: readonly TaskSummary[]): string => rows.map((one) => one.id).join(' ')
const none = new Set<string>()

describe('a page that is read again', () => {
  it('replaces rows where they stand and moves none', () => {
    const { rows, left } = mergePage([row(9), row(8), row(7)], none, {
      cursor: null,
      rows: [row(9), row(8, 'RUNNING'), row(7)],
      isLast: true
    })
    expect(ids(rows)).toBe('9 8 7')
    expect(rows[1]!.state).toBe('RUNNING')
    expect(left.size).toBe(0)
  })

  it('only counts rows that were not there', () => {
    const merged = mergePage([row(9), row(8)], none, { cursor: null, rows: [row(11), row(10), row(9)], isLast: false })
    expect(ids(merged.rows)).toBe('9 8')
    expect(ids(merged.unseen)).toBe('11 10')
  })

  it('names the rows that no longer fit, and takes the name away when they fit again', () => {
    const shown = [row(9), row(8), row(7)]
    const gone = mergePage(shown, none, { cursor: null, rows: [row(9), row(7)], isLast: true })
    expect([...gone.left]).toEqual(['8'])
    expect(ids(gone.rows)).toBe('9 8 7')
    expect(mergePage(shown, gone.left, { cursor: null, rows: shown, isLast: true }).left.size).toBe(0)
  })

  it('says nothing about rows beyond what it covers', () => {
    const shown = [row(9), row(8), row(7), row(6), row(5)]
    const first = mergePage(shown, none, { cursor: null, rows: [row(9), row(8)], isLast: false })
    expect(first.left.size).toBe(0)
    const second = mergePage(shown, none, { cursor: '8', rows: [row(6)], isLast: false })
    expect([...second.left]).toEqual(['7'])
  })

  it('of an empty answer leaves every row in place and named', () => {
    const { rows, left } = mergePage([row(9)], none, { cursor: null, rows: [], isLast: true })
    expect(ids(rows)).toBe('9')
    expect([...left]).toEqual(['9'])
  })
})

it('ids are compared as the whole numbers they are', () => {
  expect(compareIds('10', '9')).toBeGreaterThan(0)
  expect(compareIds('9007199254740993', '9007199254740992')).toBeGreaterThan(0)
  expect(compareIds('7', '7')).toBe(0)
})

it('a following page brings no row twice', () => {
  expect(ids(appendPage([row(9), row(8)], [row(8), row(7)]))).toBe('9 8 7')
})
