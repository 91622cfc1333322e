import type { Clock } from '../../kernel/index.ts'
import { HandlerThreadLink } from './handler-thread-link.ts'
import { threadLimits, type FromThread } from './protocol.ts'

export interface HandlerDescription {
  readonly type: string
  readonly source: 'built-in' | 'folder'
  /** Absolute path; null for a built-in one. */
  readonly file: string | null
  readonly description: string
  /** JSON Schema of the payload; null when it has none. */
  readonly payloadSchema: Record<string, unknown> | null
  /** JSON text. */
  readonly example: string
}

export interface HandlerDescriptions {
  readonly handlers: readonly HandlerDescription[]
  readonly broken: readonly { readonly file: string; readonly message: string }[]
}

export interface DescribeRequest {
  readonly builtIn: boolean
  readonly files: readonly string[]
  readonly cacheDir: string
  readonly clock: Clock
}

const memoryMb = 256

/** Reads handler files in a thread. One that hangs, crashes or exits while it loads is broken, and the others are read without it. */
export async function describeHandlers({ builtIn, files, ...rest }: DescribeRequest): Promise<HandlerDescriptions> {
  const handlers: HandlerDescription[] = []
  const broken: { file: string; message: string }[] = []
  let left = [...files]
  for (let first = true; first || left.length > 0; first = false) {
    const round = await describeOnce({ builtIn: builtIn && first, files: left, ...rest })
    handlers.push(...round.handlers)
    broken.push(...round.broken)
    if (round.endedAt === undefined) break
    broken.push(round.endedAt)
    left = left.slice(left.indexOf(round.endedAt.file) + 1)
  }
  return { handlers, broken }
}

interface Round {
  handlers: HandlerDescription[]
  broken: { file: string; message: string }[]
  /** The file that ended the thread; undefined when all were read. */
  endedAt: { file: string; message: string } | undefined
}

async function describeOnce({ builtIn, files, cacheDir, clock }: DescribeRequest): Promise<Round> {
  const round: Round = { handlers: [], broken: [], endedAt: undefined }
  let loading: string | undefined
  let finished = false
  let timer = new AbortController()
  await new Promise<void>((resolve) => {
    const restartTimer = (): void => {
      timer.abort()
      timer = new AbortController()
      clock.sleep(threadLimits.loadMs, timer.signal).then(
        () => void link.terminate(),
        () => undefined
      )
    }
    const link = new HandlerThreadLink(
      {
        memoryMb,
        config: {
          mode: 'describe',
          builtIn,
          files: [...files],
          fileOfType: {},
          errorRules: [],
          artifactDir: '',
          cacheDir
        }
      },
      {
        output: () => undefined,
        message(message) {
          restartTimer()
          if (message.kind === 'loading') loading = message.file
          finished ||= message.kind === 'allDescribed'
          note(round, message)
          if (finished) void link.terminate()
        },
        ended(end) {
          timer.abort()
          const file = loading ?? files[0]
          const message = `The file does not finish loading: ${end.message}`
          if (!finished && file !== undefined) round.endedAt = { file, message }
          else if (!finished) round.broken.push({ file: '', message })
          resolve()
        }
      }
    )
    restartTimer()
  })
  return round
}

function note(round: Round, message: FromThread): void {
  if (message.kind === 'broken') round.broken.push({ file: message.file, message: message.message })
  if (message.kind !== 'described') return
  const { file } = message
  const source = file === null ? 'built-in' : 'folder'
  round.handlers.push(...message.handlers.map((handler) => ({ ...handler, source, file }) as const))
}
