import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineHandler } from '../queue/pool/handler.ts'
import { toNewTask, type TaskInput } from './task-input.ts'

it.each([null, undefined, 'greet', 7])('refuses %j, which is no task, and says which one it was', (input) => {
  expect(() => toNewTask(input as unknown as TaskInput, 3)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: { position: 3 } })
  )
})

it('refuses a field that it does not know, by name: a misspelt runAt would run at once', () => {
  expect(() => toNewTask({ type: 't', run_at: 0 } as unknown as TaskInput, 2)).toThrow(/run_at/)
})

it('says which task of a batch has a payload that its handler refuses', () => {
  const handler = defineHandler({ type: 't', payload: z.object({ n: z.number() }), execute: () => null })
  expect(() => toNewTask({ handler, payload: { n: 'x' } }, 7)).toThrow(
    expect.objectContaining({ code: 'INVALID_PAYLOAD', details: { position: 7 } })
  )
})
