import { z } from 'zod'
import { taskType } from '../../../kernel/index.ts'
import { messageOf } from '../error-text.ts'
import type { Handler } from '../handler.ts'
import type { FromThread } from '../protocol.ts'
import type { WorkerLink } from './worker-link.ts'

interface DescribeOptions {
  readonly link: WorkerLink
  readonly files: readonly string[]
  readonly load: (file: string) => Promise<Handler[]>
  readonly builtIn: readonly Handler[]
}

/** Tells the worker what the handler files hold. The file being read is named first, in case it ends the thread. */
export async function describeAll({ link, files, load, builtIn }: DescribeOptions): Promise<void> {
  link.tell({ kind: 'described', file: null, handlers: builtIn.map(describeHandler) })
  for (const file of files) {
    link.tell({ kind: 'loading', file })
    try {
      const handlers = await load(file)
      if (handlers.length === 0) throw new Error('The file exports no handler: export what defineHandler returns.')
      link.tell({ kind: 'described', file, handlers: handlers.map(describeHandler) })
    } catch (error) {
      link.tell({ kind: 'broken', file, message: messageOf(error) })
    }
  }
  link.tell({ kind: 'allDescribed' })
}

type Described = Extract<FromThread, { kind: 'described' }>['handlers'][number]

function describeHandler(handler: Handler): Described {
  const type = taskType.safeParse(handler.type)
  if (!type.success)
    throw new Error(`The handler's type "${String(handler.type)}" is not usable: ${type.error.message}`)
  return {
    type: type.data,
    description: String(handler.description ?? ''),
    payloadSchema: jsonSchemaOf(handler),
    example: JSON.stringify(handler.example ?? {}, null, 2)
  }
}

/** null for schemas that JSON Schema cannot express, such as transforms of the whole payload. */
function jsonSchemaOf(handler: Handler): Record<string, unknown> | null {
  try {
    return JSON.parse(JSON.stringify(z.toJSONSchema(handler.payload, { io: 'input', unrepresentable: 'any' })))
  } catch {
    return null
  }
}
