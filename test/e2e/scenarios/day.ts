import { afterAll, beforeAll, describe } from 'vitest'
import { appearanceScenario } from './appearance.ts'
import { connectionsScenario } from './connections.ts'
import { keyboardScenario } from './keyboard.ts'
import { tasksScenario } from './tasks.ts'
import { openSession, type Session } from '../support/session.ts'
import type { ShellKind } from '../support/shells.ts'

/** The scenarios that need no data folder of their own. Each says what it finds and what it leaves; so does this order. */
export function describeDay(kind: ShellKind): void {
  describe(`a day in the ${kind} shell`, () => {
    let session: Session
    beforeAll(async () => {
      session = await openSession(kind)
    })
    afterAll(() => session?.stop())

    for (const scenario of [keyboardScenario, tasksScenario, connectionsScenario, appearanceScenario])
      scenario(() => session)
  })
}
