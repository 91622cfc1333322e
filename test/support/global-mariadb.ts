import type { TestProject } from 'vitest/node'
import { startMariaDb } from './mariadb.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server's address without a database; see createTestDatabase in mariadb.ts. */
    mariadbUrl: string
  }
}

/** Vitest global setup: one database server for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startMariaDb({ inMemory: true })
  project.provide('mariadbUrl', server.url())
  return () => server.stop()
}
