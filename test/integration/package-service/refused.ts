// What the compiler has to refuse; each line fails the type check when it does not.
import { openQueue } from 'taskdeck'
import { greet } from './handlers/greet.ts'

const queue = await openQueue({ file: 'never' })
// @ts-expect-error a name is a text
await queue.submit({ handler: greet, payload: { name: 5 } })
// @ts-expect-error the payload is missing
await queue.submit({ handler: greet })
// @ts-expect-error there is no such option
await queue.submit({ handler: greet, payload: { name: 'Ada' }, colour: 'red' })
// @ts-expect-error a number of tasks
await queue.startWorker({ concurrency: 'four' })
