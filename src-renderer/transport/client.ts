import type { ContractRouterClient } from '@orpc/contract'
import type { Contract } from '@contract'

/** Every call the page can make, typed by the contract. */
export type TaskdeckClient = ContractRouterClient<Contract>

let current: TaskdeckClient | undefined

/** Called once by the entry (and by each test) before any store is used. */
export function provideClient(client: TaskdeckClient): void {
  current = client
}

/** Only the actions of stores call this. */
export function useClient(): TaskdeckClient {
  if (!current) throw new Error('provideClient() has to come before the first store')
  return current
}
