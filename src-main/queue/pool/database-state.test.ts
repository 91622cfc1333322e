import { expect, it } from 'vitest'
import { AppError } from '../../kernel/index.ts'
import { DatabaseState } from './database-state.ts'

it('is well again when the server answers anybody, but for what is wrong with one of its users alone', () => {
  const told: (string | null)[] = []
  const state = new DatabaseState((problem) => told.push(problem?.code ?? null))
  const away = new AppError('CONNECTION_REFUSED', 'operational', 'away')
  for (const user of ['heartbeat', 'claim', 'schedules'] as const) state.failed(user, away)
  state.failed('recovery', new AppError('NO_RIGHTS', 'operational', 'no'))
  state.succeeded('heartbeat')
  expect(state.code).toBe('NO_RIGHTS')
  state.succeeded('recovery')
  expect(state.code).toBe('ok')
  expect(told).toEqual(['CONNECTION_REFUSED', 'NO_RIGHTS', null])
})

it('forgets how the last call of a user went that has nothing more to ask, and vouches for nobody else', () => {
  const told: (string | null)[] = []
  const state = new DatabaseState((problem) => told.push(problem?.code ?? null))
  state.failed('notes', new AppError('LOCK_TIMEOUT', 'operational', 'locked'))
  state.failed('claim', new AppError('CONNECTION_LOST', 'operational', 'away'))
  state.idle('notes')
  expect(state.code).toBe('CONNECTION_LOST')
  expect(told).toEqual(['LOCK_TIMEOUT', 'CONNECTION_LOST'])
})
