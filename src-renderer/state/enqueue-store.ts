import { defineStore } from 'pinia'
import type { NewTaskInput } from '@contract'
import { useClient } from '@/transport/client.ts'

export interface Submission {
  readonly connectionId: string
  readonly task: NewTaskInput
  readonly count: number
  /** The connection's name, typed, when it is production. */
  readonly confirmation: string
}
export interface Submitted {
  readonly created: number
  readonly existing: number
  readonly firstId: string
}

/** Tasks made by hand, for any connection that may be written to. Rejects with what `toProblem` reads. */
export const useEnqueueStore = defineStore('enqueue', () => {
  const submit = (submission: Submission): Promise<Submitted> =>
    useClient().tasks.submit({ ...submission, requestId: crypto.randomUUID() })

  return { submit }
})
