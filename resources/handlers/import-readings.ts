// A long import that goes on where it stopped: rows in batches under a key, a checkpoint after each batch, and a report of what was
// refused. A second attempt begins after the last checkpoint, and rows that were written twice are there once.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { defineHandler, FinalError, partial, type HandlerContext } from 'taskdeck'
import { z } from 'zod'

const reading = z.object({ sensor: z.string().min(1), at: z.iso.datetime(), value: z.number() })

/** What a checkpoint keeps: small, since it is in the database. Refused lines are kept up to `mostKept`, counted beyond it. */
const state = z.object({
  line: z.int().min(0),
  imported: z.int().min(0),
  refused: z.int().min(0),
  kept: z.array(z.object({ line: z.int(), reason: z.string() }))
})
type State = z.infer<typeof state>
const mostKept = 200

export const importReadings = defineHandler({
  type: 'import-readings',
  description: 'Imports a file of sensor readings, one JSON object a line, into rows of the queue.',
  payload: z.object({ file: z.string().min(1), batchSize: z.int().min(1).max(1_000).default(500) }),
  example: { file: '/data/readings.jsonl' },
  async execute(context, { file, batchSize }) {
    const from: State = state.safeParse(context.checkpoint).data ?? { line: 0, imported: 0, refused: 0, kept: [] }
    if (from.line > 0) context.log(`goes on after line ${from.line}`)
    const done = await importFrom(context, from, { file, batchSize })
    const counts = { imported: done.imported, refused: done.refused }
    if (done.refused === 0) return counts
    await context.artifact({ name: 'refused.csv', contentType: 'text/csv', content: reportOf(done) })
    return partial(counts)
  }
})

async function importFrom(
  context: HandlerContext,
  from: State,
  { file, batchSize }: { file: string; batchSize: number }
): Promise<State> {
  const now: State = { ...from, kept: [...from.kept] }
  let rows: { rowNumber: number; data: string }[] = []
  const flush = async (line: number): Promise<void> => {
    // The rows first: a checkpoint promises that everything before it is written.
    await context.rows.insert(context.idempotencyKey, rows)
    now.imported += rows.length
    now.line = line
    rows = []
    await context.saveCheckpoint(now)
    context.progress({ processed: now.line, succeeded: now.imported, failed: now.refused })
  }
  let line = 0
  for await (const text of linesOf(file, context.signal)) {
    if (++line <= from.line) continue
    const checked = readLine(text)
    if (typeof checked !== 'string') rows.push({ rowNumber: line, data: JSON.stringify(checked) })
    else if (++now.refused <= mostKept) now.kept.push({ line, reason: checked })
    if (line - now.line >= batchSize) {
      await flush(line)
      context.checkCancellation()
    }
  }
  await flush(line)
  return now
}

async function* linesOf(file: string, signal: AbortSignal): AsyncGenerator<string> {
  const input = createReadStream(file, { encoding: 'utf8', signal })
  // A missing file is an error of the stream, which the reading of lines does not show.
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => undefined)
  await Promise.race([new Promise((resolve) => input.once('open', resolve)), failed]).catch((error: unknown) => {
    throw new FinalError('FILE_UNREADABLE', `${file} cannot be read on this machine.`, { cause: error })
  })
  for await (const line of createInterface({ input, crlfDelay: Infinity })) yield line
  // A stream that breaks off ends its lines like one that is done.
  if (input.errored) throw input.errored
}

/** The reading, or why it is none. */
function readLine(text: string): z.infer<typeof reading> | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'no JSON'
  }
  const parsed = reading.safeParse(value)
  return parsed.success ? parsed.data : (parsed.error.issues[0]?.path.join('.') ?? '') + ' is not usable'
}

const reportOf = ({ kept, refused }: State): string =>
  [
    'line,reason',
    ...kept.map(({ line, reason }) => `${line},${reason}`),
    ...(refused > kept.length ? [`more,${refused - kept.length} lines`] : [])
  ].join('\r\n')
