import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Problem, TaskSummary } from '@contract'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'
import { noFilters, toContract, type TaskFilters } from './task-filters.ts'
import { appendPage, mergePage, type ReadPage } from './task-merge.ts'

export const pageSize = 100
/** The list is read again at most this often, however fast the queue moves. */
export const refreshEveryMs = 3_000

interface Question {
  readonly connectionId: string
  readonly filters: TaskFilters
}

/** Where a page that was read begins: its cursor, and the index of its first row. */
interface PageStart {
  readonly cursor: string | null
  readonly index: number
}

/** The list of tasks for one question (a connection and filters). It grows at its end by keyset pages and never moves by itself. */
export const useTaskListStore = defineStore('task-list', () => {
  const rows = shallowRef<readonly TaskSummary[]>([])
  const left = shallowRef<ReadonlySet<string>>(new Set())
  const unseen = shallowRef<readonly TaskSummary[]>([])
  const loading = ref<'first' | 'more' | null>(null)
  const loaded = ref(false)
  const readAt = ref<number | null>(null)
  const problem = shallowRef<Problem | null>(null)
  const nextCursor = ref<string | null>(null)
  const question = shallowRef<Question>({ connectionId: '', filters: noFilters })
  /** Growing numbers of questions: an answer to an older one is dropped. */
  let asked = 0
  let starts: readonly PageStart[] = []
  let refreshing = false
  /** A reader has the rows before their eyes: then they do not move. */
  let shown = false

  const hasMore = computed(() => nextCursor.value !== null)
  /** All rows of the first page are new: there may be more than these. */
  const unseenIsBounded = computed(() => unseen.value.length >= pageSize)

  async function read(cursor: string | null): Promise<ReadPage & { nextCursor: string | null }> {
    const { connectionId, filters } = question.value
    const answer = await useClient().tasks.list({ connectionId, filter: toContract(filters), limit: pageSize, cursor })
    return { cursor, rows: answer.rows, isLast: answer.nextCursor === null, nextCursor: answer.nextCursor }
  }

  /**
   * Shows another question. Asked again for the one that is shown, it keeps the rows and only refreshes them; a page that opens with
   * it has them at once and then reads them afresh, so that what was new meanwhile is there.
   */
  async function open(connectionId: string, filters: TaskFilters): Promise<void> {
    const before = question.value
    const same = before.connectionId === connectionId && JSON.stringify(before.filters) === JSON.stringify(filters)
    const stays = same && loaded.value && shown
    shown = true
    if (stays) return refresh(0, 0)
    question.value = { connectionId, filters }
    if (before.connectionId !== connectionId || !loaded.value) forget()
    await reload()
  }

  /** The page with the list is gone. */
  function leave(): void {
    shown = false
  }

  function forget(): void {
    rows.value = []
    left.value = new Set()
    loaded.value = false
    readAt.value = null
  }

  /** Reads the first page afresh: what was new is shown, what left the filters is gone. */
  async function reload(): Promise<void> {
    const mine = ++asked
    loading.value = 'first'
    try {
      const page = await read(null)
      if (mine !== asked) return
      rows.value = page.rows
      left.value = new Set()
      unseen.value = []
      starts = [{ cursor: null, index: 0 }]
      nextCursor.value = page.nextCursor
      settled()
    } catch (error) {
      if (mine !== asked) return
      problem.value = toProblem(error)
    } finally {
      if (mine === asked) loading.value = null
    }
  }

  function settled(): void {
    problem.value = null
    loaded.value = true
    readAt.value = Date.now()
  }

  async function loadMore(): Promise<void> {
    if (loading.value !== null || nextCursor.value === null) return
    const mine = asked
    loading.value = 'more'
    try {
      const page = await read(nextCursor.value)
      if (mine !== asked) return
      starts = [...starts, { cursor: page.cursor, index: rows.value.length }]
      rows.value = appendPage(rows.value, page.rows)
      nextCursor.value = page.nextCursor
      settled()
    } catch (error) {
      if (mine === asked) problem.value = toProblem(error)
    } finally {
      if (mine === asked) loading.value = null
    }
  }

  /** Reads again what is on screen (rows `from` to `to`) and the first page, which tells what is new. */
  async function refresh(from: number, to: number): Promise<void> {
    if (refreshing || loading.value !== null || !loaded.value) return
    const mine = asked
    refreshing = true
    try {
      const first = await read(null)
      if (mine !== asked) return
      if (rows.value.length === 0) return takeFirst(first)
      unseen.value = merge(first)
      for (const cursor of cursorsOf(from, to)) {
        const page = await read(cursor)
        if (mine !== asked) return
        merge(page)
      }
      settled()
    } catch (error) {
      if (mine === asked) problem.value = toProblem(error)
    } finally {
      refreshing = false
    }
  }

  /** Nothing is on screen that could jump. */
  function takeFirst(page: ReadPage & { nextCursor: string | null }): void {
    rows.value = page.rows
    nextCursor.value = page.nextCursor
    starts = [{ cursor: null, index: 0 }]
    settled()
  }

  function merge(page: ReadPage): readonly TaskSummary[] {
    const merged = mergePage(rows.value, left.value, page)
    rows.value = merged.rows
    left.value = merged.left
    return merged.unseen
  }

  /** Of the pages, other than the first, that hold these rows. */
  function cursorsOf(from: number, to: number): string[] {
    return starts.flatMap(({ cursor, index }, i) => {
      const end = starts[i + 1]?.index ?? rows.value.length
      return cursor !== null && index <= to && end > from ? [cursor] : []
    })
  }

  return {
    rows,
    left,
    unseen,
    unseenIsBounded,
    loading,
    loaded,
    readAt,
    problem,
    hasMore,
    question,
    open,
    leave,
    reload,
    loadMore,
    refresh
  }
})
