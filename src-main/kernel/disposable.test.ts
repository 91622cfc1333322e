import { expect, it } from 'vitest'
import { StopStack } from './disposable.ts'

it('stops in reverse order, each once, all of them even when one fails', async () => {
  const stopped: string[] = []
  const stack = new StopStack()
  stack.add(() => void stopped.push('first'))
  stack.add(() => Promise.reject(new Error('second failed')))
  stack.add(async () => {
    await Promise.resolve()
    stopped.push('third')
  })
  await expect(stack.stop()).rejects.toThrow('second failed')
  expect(stopped).toEqual(['third', 'first'])
  await expect(stack.stop()).resolves.toBeUndefined()
})
