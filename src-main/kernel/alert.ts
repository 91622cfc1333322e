import { z } from 'zod'

/** With fewer attempts than this in 5 minutes one failure more or less decides about a rate. */
export const enoughAttempts = 10

/** What a rule can watch. Each is one number computed from points of the queue; what cannot be known has no number and changes nothing. */
export const alertSignals = [
  /** Age of the longest due task, ms. */
  'oldestMs',
  /** Share of attempts of the last 5 min that failed for good, 0 to 1; 0 when none ended, unknown when some failed and fewer than `enoughAttempts` ended. */
  'failureRate',
  /** Expired leases recovered in the last 5 min, less those of the 5 min before. */
  'recoveredRise',
  /** Workers that should be there and have sent no heartbeat for `workerAliveMs`. */
  'workersSilent',
  /** Tasks held to slots, over all live workers, 0 to 1. */
  'poolUse',
  /** Sessions to the most that the database server takes, 0 to 1. */
  'databaseUse',
  /** Of the slowest live worker, ms. */
  'claimP95',
  /** Running tasks while nothing ended for a minute, 0 when something did. */
  'progressStopped',
  /** Tasks a minute that came in beyond those that went out. */
  'growth',
  /** Schedules whose tick is more than a minute late. */
  'schedulesLate',
  /** Since the last good reading, ms. */
  'blindMs'
] as const
export const alertSignal = z.enum(alertSignals)
export type AlertSignal = z.infer<typeof alertSignal>

/** Fractions, of which nothing is more than all. */
export const shareSignals: readonly AlertSignal[] = ['failureRate', 'poolUse', 'databaseUse']

/** These exist for one type as well as for the whole queue. */
export const signalsOfTypes: readonly AlertSignal[] = [
  'oldestMs',
  'failureRate',
  'recoveredRise',
  'progressStopped',
  'growth'
]

export const alertLimits = {
  rulesPerConnection: 100,
  silencesPerConnection: 100,
  notifiers: 20,
  /** A rule holds back at most a day. */
  forMs: 86_400_000,
  noteChars: 500,
  templateChars: 10_000
} as const

const holdMs = z.int().min(0).max(alertLimits.forMs)

export const alertRuleDraft = z
  .object({
    signal: alertSignal,
    /** '' is the whole queue. */
    type: z.string().max(100).default(''),
    /** Unit of the signal. Above it the rule is pending, and firing after `forMs` of it without a break. */
    above: z.number().min(0).finite(),
    /** It resolves after `clearForMs` at or below this; between both it stays what it is. */
    clearAt: z.number().min(0).finite(),
    forMs: holdMs,
    clearForMs: holdMs,
    /** Told again this often while it fires and nobody has acknowledged it; null: once. */
    repeatMs: z.int().min(60_000).max(alertLimits.forMs).nullable(),
    enabled: z.boolean()
  })
  .refine(({ above, clearAt }) => clearAt <= above, {
    path: ['clearAt'],
    message: 'It must not be above the threshold.'
  })
  .refine(({ signal, type }) => type === '' || signalsOfTypes.includes(signal), {
    path: ['type'],
    message: 'This figure exists for the whole queue only.'
  })
export type AlertRuleDraft = z.infer<typeof alertRuleDraft>

/** Rules belong to one connection; the defaults are made with it, and may be changed and switched off. */
export const alertRule = z.intersection(
  alertRuleDraft,
  z.object({ id: z.string(), connectionId: z.string(), isDefault: z.boolean() })
)
export type AlertRule = z.infer<typeof alertRule>

/** One rule's stretch of trouble. Times are the clock of the readings (the database's), ms since the epoch. */
export const firing = z.object({
  id: z.string(),
  ruleId: z.string(),
  signal: alertSignal,
  type: z.string(),
  above: z.number(),
  /** First moment above the threshold. */
  since: z.number(),
  /** null while pending; one that never fired is forgotten when it clears. */
  firedAt: z.number().nullable(),
  resolvedAt: z.number().nullable(),
  /**
   * Left out: its value cleared, or it still fires. `unknown`: readings came for long without its figure; `rule`: the rule was changed, switched
   * off or removed, or the connection closed.
   */
  endedBy: z.enum(['unknown', 'rule']).optional(),
  /** Worst and newest value. */
  peak: z.number(),
  value: z.number(),
  /** It fired under a silence: nobody was told. */
  silenced: z.boolean()
})
export type Firing = z.infer<typeof firing>

/** Since when what fires has been above its threshold: an age tells it, also of the time before anybody looked. `at` is when `value` was read. */
export const firingSince = ({ signal, since, value, above }: Firing, at: number): number =>
  signal === 'oldestMs' && value > above ? Math.min(since, at - (value - above)) : since

interface SilencedRule {
  readonly rule: Pick<AlertRule, 'id'>
  readonly silencedUntil: number | null
}

/** Nobody is told of it: it fired under a silence, or its rule is silenced now. */
export const isSilenced = (rules: readonly SilencedRule[], { ruleId, silenced }: Firing): boolean =>
  silenced || rules.some(({ rule, silencedUntil }) => rule.id === ruleId && silencedUntil !== null)

/** Firings of one connection that overlap, or follow each other within `groupMs`: most likely one cause. */
export const incident = z.object({
  id: z.string(),
  connectionId: z.string(),
  openedAt: z.number(),
  /** null while one of its firings is not resolved. */
  resolvedAt: z.number().nullable(),
  acknowledged: z.object({ at: z.number(), by: z.string(), note: z.string() }).nullable(),
  firings: z.array(firing)
})
export type Incident = z.infer<typeof incident>
export const groupMs = 300_000

/** Nobody is told while it lasts; incidents are kept all the same. */
export const silence = z.object({
  id: z.string(),
  connectionId: z.string(),
  /** null: every rule of the connection. */
  ruleId: z.string().nullable(),
  from: z.number(),
  until: z.number(),
  reason: z.string(),
  by: z.string()
})
export type Silence = z.infer<typeof silence>

export const webhookFormat = z.enum(['json', 'slack', 'dingtalk', 'feishu', 'wecom'])
export type WebhookFormat = z.infer<typeof webhookFormat>

/** The address is a secret (it carries the token): it is kept like a password and never shown again. */
export const notifier = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['desktop', 'webhook']),
  format: webhookFormat,
  /** Of the generic JSON: a JSON text with {{placeholders}}; empty uses our own. */
  template: z.string(),
  enabled: z.boolean(),
  /** Host of the address; null for the desktop. */
  host: z.string().nullable(),
  address: z.enum(['none', 'vault', 'session', 'missing'])
})
export type Notifier = z.infer<typeof notifier>

/** One message to one notifier, with its tries. */
export const delivery = z.object({
  id: z.string(),
  notifierId: z.string(),
  connectionId: z.string().nullable(),
  incidentId: z.string().nullable(),
  what: z.enum(['fired', 'repeated', 'resolved', 'test']),
  at: z.number(),
  status: z.enum(['sending', 'delivered', 'failed']),
  tries: z.int(),
  /** What the receiver answered, or why there was no answer. */
  answer: z.string(),
  /** Of the last try. */
  ms: z.number().nullable()
})
export type Delivery = z.infer<typeof delivery>
