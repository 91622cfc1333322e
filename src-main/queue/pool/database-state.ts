import { toAppError, type AppError, type ErrorCode } from '../../kernel/index.ts'

/** The loops of a worker that talk to the database; each tells how its last call went. */
export type DatabaseUser = 'claim' | 'heartbeat' | 'report' | 'settle' | 'notes' | 'recovery' | 'schedules'

/** The server could not be reached at all. */
const awayCodes: readonly ErrorCode[] = ['CONNECTION_REFUSED', 'HOST_UNKNOWN', 'CONNECTION_LOST', 'CONNECT_TIMEOUT']

/** What a worker knows of its database, from the calls that it makes anyway. */
export class DatabaseState {
  private readonly failures = new Map<DatabaseUser, AppError>()
  private readonly onChange: (problem: AppError | null) => void

  constructor(onChange: (problem: AppError | null) => void) {
    this.onChange = onChange
  }

  get problem(): AppError | null {
    return this.failures.values().next().value ?? null
  }

  /** `ok`, or the code of the oldest failure that still lasts. */
  get code(): string {
    return this.problem?.code ?? 'ok'
  }

  /** An answer to one shows that the server is there again: the others need not ask, some of them a minute later, to know it. */
  succeeded(user: DatabaseUser): void {
    const before = this.code
    this.failures.delete(user)
    for (const [other, { code }] of this.failures) if (awayCodes.includes(code)) this.failures.delete(other)
    if (this.code !== before) this.onChange(this.problem)
  }

  /** It has nothing more to ask: how its last call went says nothing of now. */
  idle(user: DatabaseUser): void {
    const before = this.code
    this.failures.delete(user)
    if (this.code !== before) this.onChange(this.problem)
  }

  failed(user: DatabaseUser, error: unknown): AppError {
    const before = this.code
    const problem = toAppError(error)
    this.failures.set(user, problem)
    if (this.code !== before) this.onChange(this.problem)
    return problem
  }
}
