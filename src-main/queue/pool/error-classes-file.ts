import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../kernel/index.ts'
import { errorClassesFile, type ErrorRule } from './error-rules.ts'
import { messageOf } from './error-text.ts'

export const errorClassesName = 'error-classes.json'

const mostBytes = 65_536

/** The rules of a handler folder, none without the file. Throws AppError HANDLER_LOAD_FAILED that says what to change. */
export async function readErrorClasses(dir: string): Promise<ErrorRule[]> {
  const file = join(dir, errorClassesName)
  const facts = await stat(file).catch(() => undefined)
  if (!facts) return []
  if (!facts.isFile()) throw broken(file, 'it is no regular file')
  if (facts.size > mostBytes) throw broken(file, `it has ${facts.size} bytes; the limit is ${mostBytes}`)
  const parsed = errorClassesFile.safeParse(await readJson(file))
  if (!parsed.success) throw broken(file, z.prettifyError(parsed.error))
  return parsed.data.rules
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown
  } catch (error) {
    throw broken(file, messageOf(error), error)
  }
}

const broken = (file: string, reason: string, cause?: unknown): AppError =>
  new AppError('HANDLER_LOAD_FAILED', 'user', `The rules are not used, those from before stay: ${reason}`, {
    cause,
    details: { file }
  })
