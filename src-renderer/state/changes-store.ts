import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

export interface TasksChange {
  readonly connectionId: string
  /** Empty when there are too many to name. */
  readonly ids: readonly string[]
}

/** The last change that an operator action made to tasks: lists that show them watch `lastTasks`. */
export const useChangesStore = defineStore('changes', () => {
  const lastTasks = shallowRef<TasksChange | null>(null)

  function tasksChanged(connectionId: string, ids: readonly string[]): void {
    lastTasks.value = { connectionId, ids }
  }

  return { lastTasks, tasksChanged }
})
