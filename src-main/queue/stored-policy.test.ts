import { expect, it } from 'vitest'
import { retryPolicyOrNull } from './stored-policy.ts'

it('reads what was stored', () => {
  expect(retryPolicyOrNull(null)).toBeNull()
  expect(retryPolicyOrNull('{"kind":"exponential","baseMs":1,"capMs":2}')).toEqual({
    kind: 'exponential',
    baseMs: 1,
    capMs: 2,
    jitter: 0.2
  })
  expect(retryPolicyOrNull('{"kind":"list","delaysMs":[5]}')).toEqual({ kind: 'list', delaysMs: [5] })
  expect(retryPolicyOrNull('{"kind":"named","name":"slow"}')).toEqual({ kind: 'named', name: 'slow' })
})

it.each(['', '{"kind":"list"', 'null', '{"kind":"list","delaysMs":[]}', '{"kind":"never"}'])(
  'takes %j, which is no policy, as not set',
  (text) => expect(retryPolicyOrNull(text)).toBeNull()
)
