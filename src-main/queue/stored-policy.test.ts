import { expect, it } from 'vitest'
import { defaultRetryPolicy } from '../kernel/index.ts'
import { storedRetryPolicy } from './stored-policy.ts'

it('reads what was stored', () => {
  expect(storedRetryPolicy('{"kind":"list","delaysMs":[5]}')).toEqual({ kind: 'list', delaysMs: [5] })
  expect(storedRetryPolicy('{"kind":"named","name":"slow"}')).toEqual({ kind: 'named', name: 'slow' })
})

it.each(['', '{"kind":"list"', 'null', '{"kind":"list","delaysMs":[]}', '{"kind":"never"}'])(
  'takes %j, which is no policy, as the default one',
  (text) => expect(storedRetryPolicy(text)).toEqual(defaultRetryPolicy)
)
