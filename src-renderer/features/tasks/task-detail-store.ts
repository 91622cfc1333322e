import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import { isTerminal, type LogLine, type OperatorAction, type Problem, type TaskState, type TaskView } from '@contract'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'
import { addSample, type ProgressSample } from './progress-rate.ts'

/** Lines kept on screen; the oldest are dropped. */
const keptLines = 5_000

export interface ActionDone {
  readonly action: OperatorAction
  readonly from: TaskState
  readonly to: TaskState
  readonly auditId: string
}

/** The open task, read again while it lives; its log grows at its end. */
export const useTaskDetailStore = defineStore('task-detail', () => {
  const task = shallowRef<TaskView | null>(null)
  const log = shallowRef<readonly LogLine[]>([])
  const problem = shallowRef<Problem | null>(null)
  const logProblem = shallowRef<Problem | null>(null)
  const loading = ref(false)
  const acting = ref<OperatorAction | null>(null)
  const samples = shallowRef<readonly ProgressSample[]>([])
  let shown = { connectionId: '', id: '' }
  let refreshing = false

  /** Shows another task: the old one goes at once, so that nobody acts on the wrong one. */
  async function open(connectionId: string, id: string): Promise<void> {
    if (shown.connectionId === connectionId && shown.id === id && task.value) return refresh()
    close()
    shown = { connectionId, id }
    loading.value = true
    await refresh()
  }

  function close(): void {
    shown = { connectionId: '', id: '' }
    refreshing = false
    loading.value = false
    task.value = null
    log.value = []
    samples.value = []
    problem.value = null
    logProblem.value = null
  }

  async function refresh(): Promise<void> {
    if (refreshing || shown.id === '') return
    const mine = shown
    refreshing = true
    try {
      const next = await useClient().tasks.get({ connectionId: mine.connectionId, taskId: mine.id })
      if (mine !== shown) return
      samples.value = addSample(samples.value, next, Date.now())
      task.value = next
      problem.value = null
      await readLog(mine)
    } catch (error) {
      if (mine === shown) problem.value = toProblem(error)
    } finally {
      if (mine === shown) {
        refreshing = false
        loading.value = false
      }
    }
  }

  /** What is new in the log. A log that cannot be read leaves the rest of the task readable. */
  async function readLog(mine: typeof shown): Promise<void> {
    const afterId = log.value.at(-1)?.id ?? null
    try {
      const lines = await useClient().tasks.log({ connectionId: mine.connectionId, taskId: mine.id, afterId })
      if (mine !== shown) return
      if (lines.length > 0) log.value = [...log.value, ...lines].slice(-keptLines)
      logProblem.value = null
    } catch (error) {
      if (mine === shown) logProblem.value = toProblem(error)
    }
  }

  /** A tick: a task that has ended does not change by itself. */
  async function follow(): Promise<void> {
    if (task.value && isTerminal(task.value.state) && problem.value === null) return
    await refresh()
  }

  /** One press is one request id, so that the app can tell a repetition. Rejects with what `toProblem` reads. */
  async function act(action: OperatorAction, confirmation: string): Promise<ActionDone> {
    const { connectionId, id: taskId } = shown
    acting.value = action
    try {
      const requestId = crypto.randomUUID()
      return { action, ...(await useClient().tasks.act({ connectionId, taskId, action, requestId, confirmation })) }
    } finally {
      acting.value = null
    }
  }

  const artifact = (artifactId: string): Promise<Blob> =>
    useClient().tasks.artifact({ connectionId: shown.connectionId, taskId: shown.id, artifactId })

  return { task, log, problem, logProblem, loading, acting, samples, open, close, refresh, follow, act, artifact }
})
