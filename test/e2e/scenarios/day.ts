import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appearanceScenario } from './appearance.ts'
import { connectionsScenario } from './connections.ts'
import { foreignTableScenario } from './foreign-table.ts'
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

    // Palette, drawer, dialogs and menus, with clicks while they move; elsewhere motion is off (support/electron-shell.ts, browser.ts).
    describe('with motion, as users see it', () => {
      beforeAll(() => session.page.emulateMedia({ reducedMotion: 'no-preference' }))
      afterAll(() => session?.page.emulateMedia({ reducedMotion: 'reduce' }))

      it('moves', async () => {
        const isStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches
        expect(await session.page.evaluate(isStill)).toBe(false)
      })
      for (const scenario of [keyboardScenario, tasksScenario]) scenario(() => session)
    })
    for (const scenario of [connectionsScenario, foreignTableScenario, appearanceScenario]) scenario(() => session)
  })
}
