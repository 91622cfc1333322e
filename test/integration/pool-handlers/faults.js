import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineHandler, FinalError } from 'taskdeck'
import { z } from 'zod'

const nothing = z.object({})

/** Handlers that misbehave in the ways that real ones do. */
export const exit = defineHandler({
  type: 'exit',
  description: 'Ends its process, as it believes.',
  payload: nothing,
  example: {},
  execute: () => process.exit(3)
})

export const outOfMemory = defineHandler({
  type: 'out-of-memory',
  description: 'Fills the heap.',
  payload: nothing,
  example: {},
  execute() {
    const kept = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => `${kept.length}-${i}`))
  }
})

export const mapWithoutEnd = defineHandler({
  type: 'map-without-end',
  description: 'Fills the heap in steps that are larger than what V8 allows a thread beyond its limit.',
  payload: nothing,
  example: {},
  execute() {
    const kept = new Map()
    for (let key = 0; ; key++) kept.set(key, { key })
  }
})

export const crash = defineHandler({
  type: 'crash',
  description: 'Throws outside of its promise.',
  payload: nothing,
  example: {},
  async execute() {
    setTimeout(() => {
      throw new Error('outside of the promise')
    }, 5)
    await new Promise(() => undefined)
  }
})

export const throwLate = defineHandler({
  type: 'throw-late',
  description: 'Returns, and throws afterwards.',
  payload: z.object({ ms: z.int() }),
  example: { ms: 20 },
  execute(_context, { ms }) {
    setTimeout(() => {
      throw new Error('after the return')
    }, ms)
    return 'returned'
  }
})

export const spin = defineHandler({
  type: 'spin',
  description: 'Never yields and never looks whether it should stop.',
  payload: z.object({ ms: z.int() }),
  example: { ms: 100 },
  execute(_context, { ms }) {
    const end = performance.now() + ms
    while (performance.now() < end);
    return 'spun'
  }
})

export const deaf = defineHandler({
  type: 'deaf',
  description: 'Waits for ever and ignores its signal.',
  payload: nothing,
  example: {},
  execute: () => new Promise(() => undefined)
})

export const gated = defineHandler({
  type: 'gated',
  description: 'Ends well once its file exists.',
  payload: z.object({ file: z.string() }),
  example: { file: '/tmp/gate' },
  async execute(_context, { file }) {
    while (!existsSync(file)) await sleep(10)
  }
})

export const polite = defineHandler({
  type: 'polite',
  description: 'Waits until it is asked to stop; notes why.',
  payload: z.object({ file: z.string() }),
  example: { file: '/tmp/notes' },
  async execute(context, { file }) {
    appendFileSync(file, 'started\n')
    try {
      await sleep(600_000, undefined, { signal: context.signal })
    } catch {
      appendFileSync(file, `${context.signal.reason.reason}\n`)
      context.signal.throwIfAborted()
    }
  }
})

export const throws = defineHandler({
  type: 'throws',
  description: 'Throws an odd value.',
  payload: z.object({ what: z.enum(['final', 'string', 'huge', 'getter', 'undefined', 'http-timeout']) }),
  example: { what: 'final' },
  execute(_context, { what }) {
    if (what === 'final') throw new FinalError('NOT_ALLOWED', 'no attempt can succeed')
    if (what === 'string') throw 'just a text'
    if (what === 'huge') throw new Error(`\0\uD800${'x'.repeat(20_000_000)}`)
    if (what === 'undefined') throw undefined
    if (what === 'http-timeout') throw Object.assign(new Error('gone'), { code: 'ETIMEDOUT' })
    throw Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('no message for you')
      }
    })
  }
})

export const tells = defineHandler({
  type: 'tells',
  description: 'Logs what it was given, and throws it.',
  payload: z.object({ text: z.string() }),
  example: { text: 'salary=1' },
  execute(context, { text }) {
    context.log(text)
    throw new FinalError('TOLD', text)
  }
})

export const notes = defineHandler({
  type: 'notes',
  description: 'Reports everything that can be reported.',
  payload: nothing,
  example: {},
  async execute(context) {
    context.log('hello')
    context.log('warn', 'careful')
    context.progress({ total: 10, processed: 4, succeeded: 3, failed: 1 })
    const before = context.checkpoint
    await context.saveCheckpoint({ step: context.attempt })
    await context.artifact({ name: '../../etc/pass wd?.txt', contentType: 'text/plain', content: 'content' })
    if (context.attempt === 1) throw new Error('once more')
    return { before, key: context.idempotencyKey, attempt: context.attempt }
  }
})

export const chatty = defineHandler({
  type: 'chatty',
  description: 'Logs far too much.',
  payload: nothing,
  example: {},
  execute(context) {
    for (let line = 0; line < 50_000; line++) context.log(`line ${line}`)
  }
})

export const bigResult = defineHandler({
  type: 'big-result',
  description: 'Returns more than a result may be.',
  payload: nothing,
  example: {},
  execute: () => 'x'.repeat(100_000)
})

export const environment = defineHandler({
  type: 'environment',
  description: 'Returns what it can read of the settings.',
  payload: nothing,
  example: {},
  execute: () => ({
    env: Object.keys(process.env).filter((name) => name.startsWith('TASKDECK_')),
    argv: process.argv.slice(2)
  })
})
