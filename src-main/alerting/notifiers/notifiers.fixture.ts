import type { Notifier } from '../../kernel/index.ts'
import type { ToldFiring } from '../alerts-port.ts'
import type { OutgoingMessage } from './outgoing-message.ts'

export const since = Date.UTC(2026, 10, 30, 1, 50)

export const firingOf = (changes: Partial<ToldFiring> = {}): ToldFiring => ({
  id: 'f1',
  ruleId: 'r1',
  signal: 'oldestMs',
  type: '',
  above: 300_000,
  since,
  firedAt: since + 60_000,
  resolvedAt: null,
  peak: 500_000,
  value: 420_000,
  silenced: false,
  worst: null,
  ...changes
})

export const messageOf = (changes: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  what: 'fired',
  connection: { id: 'orders-1', name: 'orders', environment: 'production' },
  incidentId: 'i1',
  firings: [firingOf()],
  at: since + 60_000,
  ...changes
})

export const notifierOf = (changes: Partial<Notifier> = {}): Notifier => ({
  id: 'n1',
  name: 'on call',
  kind: 'webhook',
  format: 'json',
  template: '',
  enabled: true,
  host: '127.0.0.1',
  address: 'session',
  ...changes
})
