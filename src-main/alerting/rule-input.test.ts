import { expect, it } from 'vitest'
import type { AlertRule } from '../kernel/index.ts'
import { requireRule } from './rule-input.ts'

const kept: AlertRule = {
  ...{ id: 'r', connectionId: 'local', isDefault: false, signal: 'poolUse', type: '' },
  ...{ above: 1, clearAt: 0.5, forMs: 0, clearForMs: 0, repeatMs: null, enabled: true }
}

it('refuses a share that nothing exceeds, but not to switch off a rule that has one', () => {
  expect(() => requireRule(kept)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }) as Error)
  expect(() => requireRule({ ...kept, above: 1.5 }, kept)).toThrow()
  expect(requireRule({ ...kept, enabled: false }, kept)).toMatchObject({ above: 1, enabled: false })
})
