import type { RouteLocationRaw } from 'vue-router'
import type { OpenAlert } from './open-alerts.ts'
import type { Sentence } from './sentence.ts'

/** The one thing to do about a sentence: `name` is a key of the i18n files. */
export interface SentenceAction {
  readonly name: string
  readonly to: RouteLocationRaw
}

export interface SentencePlace {
  readonly connectionId: string
  readonly isLocal: boolean
  /** There are tasks and workers to open. */
  readonly hasTasks: boolean
}

export function sentenceAction(
  sentence: Sentence,
  alert: OpenAlert | null,
  { connectionId, isLocal, hasTasks }: SentencePlace
): SentenceAction | null {
  const params = { connectionId }
  if (!hasTasks) return actionWithoutTasks(sentence, alert, params)
  const tasks = (query: Record<string, string>): RouteLocationRaw => ({ name: 'tasks', params, query })
  switch (sentence.kind) {
    case 'failing':
      return {
        name: 'overview.sentence.failing.action',
        to: tasks({ type: sentence.type, state: 'FAILED,RETRY_WAIT' })
      }
    case 'retrying':
      return { name: 'overview.sentence.retrying.action', to: tasks({ type: sentence.type, state: 'RETRY_WAIT' }) }
    case 'oldest':
      return { name: 'overview.sentence.oldest.action', to: tasks({ type: sentence.type, task: sentence.taskId }) }
    case 'noWorkers':
      if (isLocal) return { name: 'overview.sentence.noWorkers.startLocal', to: { name: 'local-worker' } }
      return { name: 'overview.sentence.noWorkers.action', to: { name: 'workers', params } }
    case 'alert':
      return alertAction(sentence, alert, tasks, params)
    default:
      return null
  }
}

/** Where the table is another application's: the type's page, or the incident. */
function actionWithoutTasks(
  sentence: Sentence,
  alert: OpenAlert | null,
  params: { connectionId: string }
): SentenceAction | null {
  const type = 'type' in sentence ? sentence.type : ''
  if (type !== '') return { name: 'foreign.type', to: { name: 'type', params: { ...params, type } } }
  return alert ? incidentAction(alert, params) : null
}

const incidentAction = (alert: OpenAlert | null, params: { connectionId: string }): SentenceAction => ({
  name: 'overview.sentence.alert.incident',
  to: { name: 'alerts', params, query: { incident: alert?.incident.id ?? '' } }
})

function alertAction(
  { signal, type }: Extract<Sentence, { kind: 'alert' }>,
  alert: OpenAlert | null,
  tasks: (query: Record<string, string>) => RouteLocationRaw,
  params: { connectionId: string }
): SentenceAction {
  const ofType: Record<string, string> = type === '' ? {} : { type }
  if (signal === 'failureRate')
    return { name: 'overview.sentence.failing.action', to: tasks({ ...ofType, state: 'FAILED,RETRY_WAIT' }) }
  if (signal === 'oldestMs' || signal === 'growth') {
    return { name: 'overview.sentence.alert.tasks', to: tasks({ ...ofType, state: 'QUEUED,RETRY_WAIT' }) }
  }
  if (['workersSilent', 'progressStopped', 'recoveredRise', 'poolUse', 'claimP95'].includes(signal)) {
    return { name: 'overview.sentence.noWorkers.action', to: { name: 'workers', params } }
  }
  return incidentAction(alert, params)
}
