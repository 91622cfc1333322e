// Imports a workbook with the handler that comes with the package. Prints the task's result, which the test reads.
import { setTimeout as pause } from 'node:timers/promises'
import { openQueue } from 'taskdeck'

const [file = ''] = process.argv.slice(2)
const queue = await openQueue('sqlite:./workbook.sqlite')
await queue.startWorker({ builtInHandlers: true, artifactDir: './artifacts', pollMs: 20 })
const { taskId } = await queue.submit({ type: 'import-xlsx', payload: { file } })
let task = await queue.get(taskId)
while (!task?.finishedAt) {
  await pause(20) // the embedded store answers without leaving this turn: the worker needs one, too
  task = await queue.get(taskId)
}
console.log(task.result ?? JSON.stringify(task.attempts))
await queue.close()
