import type { HandlerView, LocalWorkerView, WorkerLogLine } from '@contract'

const object = (properties: Record<string, unknown>, required: string[] = []): Record<string, unknown> => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties,
  required
})
const builtIn = (
  type: string,
  description: string,
  payloadSchema: Record<string, unknown> | null,
  example: unknown
): HandlerView => ({
  type,
  source: 'built-in',
  file: null,
  description,
  payloadSchema,
  example: JSON.stringify(example, null, 2)
})

/** As the real worker describes its built-in handlers, and one of a folder. */
export const demoHandlers: HandlerView[] = [
  builtIn(
    'cpu',
    'Computes without ever yielding: shows that heartbeats and cancelling do not depend on the handler.',
    object({ ms: { type: 'integer', minimum: 1, maximum: 3_600_000, description: 'How long, milliseconds' } }, ['ms']),
    { ms: 2_000 }
  ),
  builtIn(
    'flaky',
    'Fails on purpose: the first attempts, or by chance.',
    object({
      failFirst: { default: 0, description: 'Attempts that always fail', type: 'integer', minimum: 0 },
      probability: {
        default: 0.3,
        description: 'Chance that a later attempt fails',
        type: 'number',
        minimum: 0,
        maximum: 1
      },
      errorClass: { default: 'retryable', type: 'string', enum: ['retryable', 'final', 'resource'] },
      ms: {
        default: 0,
        description: 'Time before the outcome, milliseconds',
        type: 'integer',
        minimum: 0,
        maximum: 3_600_000
      }
    }),
    { failFirst: 1, probability: 0.2, ms: 200 }
  ),
  builtIn(
    'import-csv',
    'Imports a CSV file in batches; bad rows are reported in a file and the rest is imported.',
    object(
      {
        file: { type: 'string', minLength: 1, description: 'Absolute path of the CSV file, with a header line' },
        delimiter: { default: ',', type: 'string', minLength: 1, maxLength: 1 },
        batchSize: {
          default: 200,
          description: 'Rows of one transaction',
          type: 'integer',
          minimum: 1,
          maximum: 1_000
        },
        columns: {
          default: { order_no: 'text', amount: 'number' },
          description: 'What each column must hold',
          type: 'object',
          additionalProperties: { type: 'string' }
        }
      },
      ['file']
    ),
    { file: '/path/to/orders.csv', batchSize: 200 }
  ),
  builtIn(
    'sleep',
    'Waits, then succeeds. Stops at once when it is cancelled.',
    object({ ms: { type: 'integer', minimum: 0, maximum: 86_400_000, description: 'How long, milliseconds' } }, ['ms']),
    { ms: 1_000 }
  ),
  {
    type: 'invoice.issue',
    source: 'folder',
    file: 'invoice-issue.ts',
    description: 'Issues one invoice and mails it.',
    payloadSchema: object(
      {
        invoiceId: { type: 'string' },
        copies: { type: 'integer', default: 1 },
        notify: { type: 'boolean', default: true }
      },
      ['invoiceId']
    ),
    example: '{ "invoiceId": "R-2026-0117" }'
  }
]

export const demoProblems: LocalWorkerView['problems'] = [
  {
    file: 'report-render.ts',
    problem: {
      code: 'HANDLER_LOAD_FAILED',
      kind: 'user',
      message: "report-render.ts: Cannot find module './template.ts' imported from report-render.ts",
      details: { file: 'report-render.ts' }
    }
  }
]

export function demoWorkerLog(now: number): WorkerLogLine[] {
  const texts: [WorkerLogLine['level'], string, boolean][] = [
    ['info', 'worker this-machine-1 started with 4 slots on 5 types', false],
    ['info', 'claimed 4 tasks', false],
    ['info', 'batch 41 of 50: 200 rows, 4 rejected', true],
    ['warn', 'attempt 1: FLAKY: Attempt 1 fails on purpose.; again in 5123 ms', true],
    ['debug', 'pick-up 12 ms', true],
    ['error', 'its outcome could not be stored in time; it will be recovered', true]
  ]
  return Array.from({ length: 60 }, (_, i) => {
    const [level, message, ofTask] = texts[i % texts.length]!
    return { seq: i + 1, at: now - (60 - i) * 800, level, message, taskId: ofTask ? String(48_000_400 + i) : null }
  })
}
