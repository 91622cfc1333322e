import { request } from 'node:http'
import { z } from 'zod'
import { AppError, withDeadline, type Clock } from '../../kernel/index.ts'
import { statusReport, type StatusReport } from './status-report.ts'

/** A report of a hundred types has some 30 KB. */
const mostBytes = 4 * 1_048_576
const answerMs = 5_000

const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/**
 * What the running app says; undefined when none runs there. Throws what it refuses (NOT_FOUND, INVALID_INPUT: the connection), and
 * CONNECTION_LOST when it does not answer in time or in a way that is not known.
 */
export async function askApp(
  place: string,
  connection: string | null,
  clock: Clock
): Promise<StatusReport | undefined> {
  const stop = new AbortController()
  const late = (): AppError => lost(`The running Taskdeck did not answer within ${answerMs / 1_000} s.`)
  try {
    const answer = await withDeadline(clock, answerMs, get(place, connection, stop.signal), late)
    return answer === undefined ? undefined : parse(answer)
  } finally {
    stop.abort()
  }
}

function parse(text: string): StatusReport {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw lost('The running Taskdeck answered in a way that is not known here.')
  }
  const refused = refusal.safeParse(json)
  if (refused.success) {
    const { code, message } = refused.data.error
    if (code === 'BUG') throw lost(message)
    throw new AppError(code === 'NOT_FOUND' ? code : 'INVALID_INPUT', 'user', message)
  }
  const report = statusReport.safeParse(json)
  if (report.success) return report.data
  throw lost('The running Taskdeck is of another version: use its own command.')
}

/** undefined when nobody listens. */
function get(socketPath: string, connection: string | null, signal: AbortSignal): Promise<string | undefined> {
  const query = connection === null ? '' : `?connection=${encodeURIComponent(connection.toWellFormed())}`
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: `/status${query}`, agent: false, signal }, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) response.destroy(lost('The answer of the running Taskdeck is too long.'))
        else chunks.push(chunk)
      })
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
      response.on('error', reject)
    })
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return resolve(undefined)
      reject(error instanceof AppError ? error : lost('The running Taskdeck could not be asked.', error))
    })
    asked.end()
  })
}

const lost = (message: string, cause?: unknown): AppError =>
  new AppError('CONNECTION_LOST', 'operational', message, { cause })
