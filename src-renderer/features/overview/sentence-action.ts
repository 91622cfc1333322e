import type { RouteLocationRaw } from 'vue-router'
import type { OpenAlert } from './open-alerts.ts'
import type { Sentence } from './sentence.ts'

/** The one thing to do about a sentence: `name` is a key of `overview.sentence`. */
export interface SentenceAction {
  readonly name: string
  readonly to: RouteLocationRaw
}

export function sentenceAction(
  sentence: Sentence,
  alert: OpenAlert | null,
  { connectionId, isLocal }: { readonly connectionId: string; readonly isLocal: boolean }
): SentenceAction | null {
  const params = { connectionId }
  const tasks = (query: Record<string, string>): RouteLocationRaw => ({ name: 'tasks', params, query })
  switch (sentence.kind) {
    case 'failing':
      return { name: 'failing.action', to: tasks({ type: sentence.type, state: 'FAILED,RETRY_WAIT' }) }
    case 'retrying':
      return { name: 'retrying.action', to: tasks({ type: sentence.type, state: 'RETRY_WAIT' }) }
    case 'oldest':
      return { name: 'oldest.action', to: tasks({ type: sentence.type, task: sentence.taskId }) }
    case 'noWorkers':
      if (isLocal) return { name: 'noWorkers.startLocal', to: { name: 'local-worker' } }
      return { name: 'noWorkers.action', to: { name: 'workers', params } }
    case 'alert':
      return alertAction(sentence, alert, tasks, params)
    default:
      return null
  }
}

function alertAction(
  { signal, type }: Extract<Sentence, { kind: 'alert' }>,
  alert: OpenAlert | null,
  tasks: (query: Record<string, string>) => RouteLocationRaw,
  params: { connectionId: string }
): SentenceAction {
  const ofType: Record<string, string> = type === '' ? {} : { type }
  if (signal === 'failureRate') return { name: 'failing.action', to: tasks({ ...ofType, state: 'FAILED,RETRY_WAIT' }) }
  if (signal === 'oldestMs' || signal === 'growth') {
    return { name: 'alert.tasks', to: tasks({ ...ofType, state: 'QUEUED,RETRY_WAIT' }) }
  }
  if (['workersSilent', 'progressStopped', 'recoveredRise', 'poolUse', 'claimP95'].includes(signal)) {
    return { name: 'noWorkers.action', to: { name: 'workers', params } }
  }
  return { name: 'alert.incident', to: { name: 'alerts', params, query: { incident: alert?.incident.id ?? '' } } }
}
