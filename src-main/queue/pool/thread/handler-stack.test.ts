import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { handlerStack } from './handler-stack.ts'

const ours = 'file:///opt/taskdeck/pool/thread/'
const stack = `Error: the first line
and a second one, from node:internal/ or ${ours}
    at jsonText (${ours}handler-context.ts:120:11)
    at Object.saveCheckpoint (${ours}handler-context.ts:80:20)
    at readOrders (file:///home/me/handlers/orders.ts:12:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async Promise.all (index 0)
    at async Object.execute (file:///home/me/handlers/orders.ts:30:3)
    at async TaskRunner.outcomeOf (${ours}task-runner.ts:90:24)
    at async TaskRunner.execute (${ours}task-runner.ts:77:21)`

describe('handlerStack', () => {
  it('keeps the message and the frames of the handler', () => {
    expect(handlerStack(stack, [ours])).toBe(`Error: the first line
and a second one, from node:internal/ or ${ours}
    at readOrders (file:///home/me/handlers/orders.ts:12:9)
    at async Promise.all (index 0)
    at async Object.execute (file:///home/me/handlers/orders.ts:30:3)`)
  })

  it.each([new URL('task-runner.ts', import.meta.url).href, join(import.meta.dirname, 'task-runner.ts')])(
    'knows that %s is ours',
    (file) => expect(handlerStack(`Error: x\n    at execute (${file}:1:2)`)).toBe('Error: x')
  )

  it('is short, however long the message or deep the stack is', () => {
    expect(handlerStack('x'.repeat(20_000_000)).length).toBeLessThan(10_000)
    expect(handlerStack(`Error\n${'    at f (file:///h.ts:1:1)\n'.repeat(100)}`).split('\n')).toHaveLength(12)
  })
})
