import { expect, it } from 'vitest'
import {
  allowedActions,
  isTerminal,
  nextState,
  taskEvents,
  taskStates,
  terminalStates,
  transitions
} from './task-state.ts'

/** The table of REQUIREMENTS section 1, written down a second time by hand; CREATED to FAILED is of issue 3 (dependencies). */
const required: Record<string, string[]> = {
  CREATED: ['QUEUED', 'CANCELLED', 'FAILED'],
  QUEUED: ['RUNNING', 'PAUSED', 'CANCELLED', 'FAILED'],
  RETRY_WAIT: ['RUNNING', 'PAUSED', 'CANCELLED', 'FAILED'],
  PAUSED: ['QUEUED', 'CANCELLED'],
  RUNNING: ['SUCCESS', 'PARTIAL_SUCCESS', 'RETRY_WAIT', 'FAILED', 'CANCEL_REQUESTED', 'QUEUED'],
  CANCEL_REQUESTED: ['CANCELLED', 'SUCCESS', 'PARTIAL_SUCCESS', 'FAILED'],
  SUCCESS: [],
  PARTIAL_SUCCESS: [],
  FAILED: ['QUEUED'],
  CANCELLED: ['QUEUED']
}

it.each(taskStates)('lets %s become exactly what the requirements allow', (state) => {
  const targets = new Set(transitions.filter((t) => t.from === state).map((t) => t.to))
  expect([...targets].sort()).toEqual([...(required[state] ?? [])].sort())
})

it('gives each state and event at most one successor', () => {
  const seen = transitions.map((t) => `${t.from} ${t.event}`)
  expect(new Set(seen).size).toBe(seen.length)
})

it('refuses every pair that the table does not name', () => {
  const named = new Set(transitions.map((t) => `${t.from} ${t.event}`))
  for (const state of taskStates)
    for (const event of taskEvents) expect(nextState(state, event) !== undefined).toBe(named.has(`${state} ${event}`))
})

it('leaves a terminal state only by the retry of an operator', () => {
  for (const state of terminalStates) {
    expect(isTerminal(state)).toBe(true)
    expect(transitions.filter((t) => t.from === state && t.event !== 'retry')).toEqual([])
  }
  expect(transitions.filter((t) => t.event === 'retry').map((t) => t.from)).toEqual(['FAILED', 'CANCELLED'])
})

it('offers an operator what the state allows', () => {
  expect(allowedActions('QUEUED')).toEqual(['cancel', 'pause'])
  expect(allowedActions('RUNNING')).toEqual(['cancel'])
  expect(allowedActions('FAILED')).toEqual(['retry'])
  expect(allowedActions('SUCCESS')).toEqual([])
})
