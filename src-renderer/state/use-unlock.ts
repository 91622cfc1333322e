import { useAction, type Action } from './use-action.ts'
import { useConnectionsStore } from './connections-store.ts'

/** Gives a locked connection its password, which is kept nowhere in the page. */
export function useUnlock(): Pick<Action, 'busy' | 'problem'> & {
  readonly unlock: (connectionId: string, password: string) => Promise<void>
} {
  const connections = useConnectionsStore()
  const { busy, problem, run } = useAction()
  return { busy, problem, unlock: (connectionId, password) => run(() => connections.unlock(connectionId, password)) }
}
