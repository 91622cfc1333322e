import type { TestStep } from '../../contract/index.ts'
import {
  requirePlainNames,
  testMysqlConnection,
  type ConnectionTestStep,
  type MysqlLogin,
  type TestNote
} from '../../connections/index.ts'
import { AppError } from '../../kernel/index.ts'
import { tablePlace } from '../../schema-profiles/index.ts'
import type { AppLog } from '../app-log.ts'
import { usableProfile, type ParsedDraft } from '../links/connection-draft.ts'
import { profileView } from '../links/foreign-profile.ts'
import { foreignVerdict } from '../links/open-foreign.ts'
import { schemaVerdict } from '../links/open-queue.ts'
import { toProblem } from '../problem.ts'
import { guarded, type Implementer } from './implementer.ts'
import type { Services } from './services.ts'

export function connectionProcedures(os: Implementer, services: Services) {
  const { connections, changes, observations, alerts, log, audited } = services
  return os.connections.router({
    list: os.connections.list.handler(() => connections.views()),
    profiles: os.connections.profiles.handler(() => services.profiles()),
    test: os.connections.test.handler(({ input, signal }) => guarded(testSteps(services, input, signal), log, signal)),
    save: os.connections.save.handler(({ input }) => {
      const { id, name, environment, accessMode, profile } = input
      const watched = profileView(profile)
      const target = JSON.stringify({ name, environment, accessMode, ...(watched && { table: watched.table }) })
      return audited({ connectionId: id ?? '', action: 'connections.save', target }, () => changes.save(input))
    }),
    remove: os.connections.remove.handler(async ({ input: { connectionId } }) => {
      const { name } = connections.view(connectionId)
      await audited({ connectionId, action: 'connections.remove', target: name }, () => changes.remove(connectionId))
      await observations.forget(connectionId)
      alerts.forget(connectionId)
    }),
    unlock: os.connections.unlock.handler(({ input }) => changes.unlock(input.connectionId, input.password)),
    setAccessMode: os.connections.setAccessMode.handler(({ input: { connectionId, accessMode, confirmation } }) =>
      audited({ connectionId, action: 'connections.setAccessMode', target: accessMode }, () =>
        changes.setAccessMode(connectionId, accessMode, confirmation)
      )
    ),
    schemaPlan: os.connections.schemaPlan.handler(async ({ input }) =>
      (await changes.schemaPlan(input.connectionId)).map((statement) => ({ ...statement }))
    ),
    migrate: os.connections.migrate.handler(({ input: { connectionId, planHash } }) =>
      audited({ connectionId, action: 'connections.migrate', target: planHash }, () =>
        changes.migrate(connectionId, planHash)
      )
    ),
    retryNow: os.connections.retryNow.handler(({ input }) => connections.retryNow(input.connectionId))
  })
}

async function* testSteps(
  services: Services,
  draft: ParsedDraft,
  signal = new AbortController().signal
): AsyncGenerator<TestStep> {
  const { clock, places, log } = services
  const profile = usableProfile(draft)
  const login = await loginOf(services, draft)
  const steps = testMysqlConnection(login, {
    accessMode: draft.accessMode,
    clock,
    signal,
    table: profile && tablePlace(profile),
    schemaStatus: (database) => (profile ? foreignVerdict(database, profile) : schemaVerdict(database, places))
  })
  const onPage = (step: ConnectionTestStep): TestStep => ({
    ...step,
    notes: step.notes.map((note) => redactNote(note, log)),
    problem: step.problem && toProblem(step.problem, log)
  })
  for await (const step of steps) yield onPage(step)
}

function redactNote({ code, values = {} }: TestNote, log: AppLog): TestStep['notes'][number] {
  const clean = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? log.redact(value) : value
  ])
  return { code, values: Object.fromEntries(clean) as Record<string, string | number> }
}

/** With the password that was typed, or the one that is stored for exactly this host and user. */
async function loginOf({ secrets, log }: Services, draft: ParsedDraft): Promise<MysqlLogin> {
  const { mysql } = draft
  requirePlainNames(mysql)
  const stored = draft.password === null && draft.id !== null ? await secrets.password(draft.id, mysql) : null
  const password = draft.password ?? stored
  if (password === null) throw new AppError('LOGIN_REFUSED', 'user', 'Enter the password to test this connection.')
  log.hide(password)
  return { ...mysql, password }
}
