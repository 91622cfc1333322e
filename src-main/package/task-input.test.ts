import { expect, it } from 'vitest'
import { toNewTask, type TaskInput } from './task-input.ts'

it.each([null, undefined, 'greet', 7])('refuses %j, which is no task, and says which one it was', (input) => {
  expect(() => toNewTask(input as unknown as TaskInput, 3)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: { position: 3 } })
  )
})
