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

it('checks a payload as the JSON that the worker will read', () => {
  const dated = defineHandler({ type: 't', payload: z.object({ at: z.date() }), execute: () => null })
  expect(() => toNewTask({ handler: dated, payload: { at: new Date() } }, 1)).toThrow(/received string/)
  const coerced = defineHandler({ type: 't', payload: z.object({ at: z.coerce.date() }), execute: () => null })
  const at = new Date('2026-05-01T12:00:00Z')
  expect(toNewTask({ handler: coerced, payload: { at } }, 1).payload).toBe('{"at":"2026-05-01T12:00:00.000Z"}')
})

it('refuses a payload that the schema cannot check at once', () => {
  const payload = z.string().refine(() => Promise.resolve(true))
  const handler = defineHandler({ type: 't', payload, execute: () => null })
  expect(() => toNewTask({ handler, payload: 'x' }, 4)).toThrow(
    expect.objectContaining({ code: 'INVALID_PAYLOAD', details: { position: 4 } })
  )
})
