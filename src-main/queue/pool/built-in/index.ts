import type { Handler } from '../handler.ts'
import { cpuHandler } from './cpu.ts'
import { flakyHandler } from './flaky.ts'
import { httpRequestHandler } from './http-request.ts'
import { importCsvHandler } from './import-csv.ts'
import { importXlsxHandler } from './import-xlsx.ts'
import { sleepHandler } from './sleep.ts'

export const builtInHandlers: readonly Handler[] = [
  sleepHandler,
  flakyHandler,
  cpuHandler,
  httpRequestHandler,
  importCsvHandler,
  importXlsxHandler
]

export function builtInHandler(type: string): Handler | undefined {
  return builtInHandlers.find((handler) => handler.type === type)
}
