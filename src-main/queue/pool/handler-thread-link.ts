import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { messageOf, textProperty } from './error-text.ts'
import type { InterruptReason } from './handler.ts'
import {
  cellCount,
  cellRing,
  cellTakenBack,
  cellWaiting,
  fromThread,
  interruptCell,
  interruptReasonCell,
  interruptReasons,
  type FromThread,
  type HandedTask,
  type ThreadConfig,
  type ToThread
} from './protocol.ts'
import { handlerThreadFile } from './thread-file.ts'

/** Why a thread is gone. */
export interface ThreadEnd {
  readonly code: 'HANDLER_CRASHED' | 'OUT_OF_MEMORY' | 'HANDLER_LOAD_FAILED'
  readonly message: string
}

export interface ThreadListener {
  message(message: FromThread): void
  /** What handlers print. */
  output(text: string): void
  /** Once, after the last message. */
  ended(end: ThreadEnd): void
}

export interface ThreadStart {
  readonly config: Omit<ThreadConfig, 'cells'>
  /** Heap limit. Buffers are outside of it. */
  readonly memoryMb: number
}

/*
 * V8's own limit is the second line only: it ends a thread softly when the next allocation fits into 16 MB of allowance, and
 * the whole process otherwise (seen with a growing Map, and with the default young generation). So the worker looks at the heap
 * from outside and ends the thread first; V8's limit stands above it, where nobody can look (Node before 24) at it.
 */
const canLookAtHeap = typeof Worker.prototype.getHeapStatistics === 'function'
const hardLimitMb = (memoryMb: number): number => (canLookAtHeap ? memoryMb * 2 + 1_024 : memoryMb)
const youngGenerationMb = 12

const outOfMemory: ThreadEnd = {
  code: 'OUT_OF_MEMORY',
  message: 'The handler used more memory than its thread may have.'
}

/** Bytes of printed text that are passed on at once; the rest of a flood is cut. */
const outputBytes = 4_096

/** The worker's end of one handler thread. */
export class HandlerThreadLink {
  private readonly worker: Worker
  private readonly cells: Int32Array
  private readonly listener: ThreadListener
  private readonly memoryMb: number
  private failure: ThreadEnd | undefined
  private lookingAtHeap = false

  constructor(start: ThreadStart, listener: ThreadListener) {
    this.listener = listener
    this.memoryMb = start.memoryMb
    const shared = new SharedArrayBuffer(cellCount * Int32Array.BYTES_PER_ELEMENT)
    this.cells = new Int32Array(shared)
    this.worker = new Worker(handlerThreadFile(), {
      workerData: { ...start.config, cells: shared } satisfies ThreadConfig,
      env: environmentForHandlers(),
      execArgv: [],
      resourceLimits: {
        maxOldGenerationSizeMb: hardLimitMb(start.memoryMb),
        maxYoungGenerationSizeMb: youngGenerationMb
      },
      stdout: true,
      stderr: true
    })
    this.passOn(this.worker.stdout)
    this.passOn(this.worker.stderr)
    this.worker.on('message', (raw: unknown) => this.receive(raw))
    this.worker.on('messageerror', (error) => this.fail(`sent what cannot be read: ${messageOf(error)}`))
    this.worker.on('error', (error) => this.remember(error))
    this.worker.on('exit', (code) => {
      const message = `The handler ended its thread (exit code ${code}).`
      this.listener.ended(this.failure ?? { code: 'HANDLER_CRASHED', message })
    })
  }

  run(tasks: readonly HandedTask[]): void {
    for (const { handover } of tasks) Atomics.store(this.cells, handover % cellRing, handover * 4 + cellWaiting)
    this.send({ kind: 'run', tasks: [...tasks] })
  }

  /** True when the thread had not started the task and now never will. */
  takeBack(handover: number): boolean {
    const waiting = handover * 4 + cellWaiting
    return Atomics.compareExchange(this.cells, handover % cellRing, waiting, handover * 4 + cellTakenBack) === waiting
  }

  interrupt(handover: number, reason: InterruptReason): void {
    Atomics.store(this.cells, interruptReasonCell, interruptReasons.indexOf(reason))
    Atomics.store(this.cells, interruptCell, handover)
    this.send({ kind: 'interrupt', handover, reason })
  }

  send(message: ToThread): void {
    this.worker.postMessage(message)
  }

  /** Ends the thread when its heap is over its limit. Works while the thread computes. */
  async checkHeap(): Promise<void> {
    // A thread that is inside one long native call answers late: one question at a time.
    if (!canLookAtHeap || this.lookingAtHeap) return
    this.lookingAtHeap = true
    // Rejects when the thread has just ended.
    const heap = await this.worker.getHeapStatistics().catch(() => undefined)
    this.lookingAtHeap = false
    if (!heap || heap.used_heap_size + heap.malloced_memory <= this.memoryMb * 1_048_576) return
    this.failure ??= outOfMemory
    await this.worker.terminate()
  }

  /** Ends the thread whatever it does; `ended` follows, with `why` when there is nothing else to say. */
  async terminate(why?: ThreadEnd): Promise<void> {
    this.failure ??= why
    await this.worker.terminate()
  }

  private receive(raw: unknown): void {
    const parsed = fromThread.safeParse(raw)
    if (parsed.success) this.listener.message(parsed.data)
    else this.fail(`sent an unknown message: ${parsed.error.message}`)
  }

  private fail(message: string): void {
    this.failure ??= { code: 'HANDLER_CRASHED', message: `The handler's thread ${message}` }
    void this.worker.terminate()
  }

  private remember(error: unknown): void {
    this.failure ??=
      textProperty(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
        ? outOfMemory
        : { code: 'HANDLER_CRASHED', message: `The handler's thread failed: ${messageOf(error)}` }
  }

  private passOn(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.listener.output(chunk.toString('utf8', 0, outputBytes).trimEnd()))
  }
}

/** The process's environment without our own settings: they may hold a database password. */
function environmentForHandlers(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TASKDECK_')))
}
