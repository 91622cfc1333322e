import type { OpenTransaction } from '@contract'

type Translate = (key: string, values: Record<string, string>) => string

/** Whose session it is: the worker where there is one answer, else account and host, with the session's number. */
export function whoOf(
  {
    sessionId,
    account,
    host,
    workers,
    tie
  }: Pick<OpenTransaction, 'sessionId' | 'account' | 'host' | 'workers' | 'tie'>,
  t: Translate
): string {
  const [worker] = workers
  if (worker !== undefined && (tie === 'lease' || workers.length === 1))
    return t('database.who.worker', { worker, session: sessionId })
  if (account === null) return t('database.who.session', { session: sessionId })
  return t('database.who.account', { account: host === null ? account : `${account}@${host}`, session: sessionId })
}
