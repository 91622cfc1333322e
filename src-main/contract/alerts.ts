import { z } from 'zod'
import {
  alertLimits,
  alertRule,
  alertRuleDraft,
  delivery,
  incident,
  notifier,
  silence,
  webhookFormat
} from '../kernel/index.ts'

/* What the page sees of alerts. Times of incidents are the database's clock, of deliveries and silences the app's; ms since the epoch. */

export const ruleState = z.enum(['quiet', 'pending', 'firing', 'unknown'])
export type RuleState = z.infer<typeof ruleState>

export const alertRuleView = z.object({
  rule: alertRule,
  /** A default that was changed: what it is set back to. null: it is as it was made, or somebody's own. */
  standard: alertRuleDraft.nullable(),
  /** `unknown`: there is no figure now, or it is switched off. */
  state: ruleState,
  /** Since when it is pending or firing. */
  since: z.number().nullable(),
  /** The signal now; null is unknown. */
  value: z.number().nullable(),
  silencedUntil: z.number().nullable(),
  /** Firings of the last 7 days. */
  fired7d: z.int()
})
export type AlertRuleView = z.infer<typeof alertRuleView>

/** Pushed as the state of one connection whenever something but a value changes. */
export const alertState = z.object({
  connectionId: z.string(),
  rules: z.array(alertRuleView),
  /** Not resolved, newest first. */
  open: z.array(incident),
  silences: z.array(silence)
})
export type AlertState = z.infer<typeof alertState>

export const rulePreview = z.object({
  from: z.number(),
  to: z.number(),
  stepMs: z.number(),
  times: z.array(z.number()),
  /** The signal; null is unknown. */
  values: z.array(z.number().nullable()),
  /** When it would have fired; `until` null: still. */
  firings: z.array(
    z.object({ since: z.number(), firedAt: z.number(), until: z.number().nullable(), peak: z.number() })
  ),
  /** The same rule with other settings: how often it would have fired. */
  variants: z.array(z.object({ above: z.number(), forMs: z.number(), fired: z.int() }))
})
export type RulePreview = z.infer<typeof rulePreview>

export const notifierDraft = z.object({
  id: z.string().max(64).nullable().default(null),
  name: z.string().trim().min(1).max(60),
  kind: z.enum(['desktop', 'webhook']),
  format: webhookFormat.default('json'),
  template: z.string().max(alertLimits.templateChars).default(''),
  enabled: z.boolean().default(true),
  /** https, or http to a loopback address; null keeps the stored one. */
  address: z.string().max(2_000).nullable().default(null),
  keepAddress: z.enum(['vault', 'session']).default('session')
})
export type NotifierDraft = z.input<typeof notifierDraft>

export const silenceDraft = z.object({
  connectionId: z.string(),
  ruleId: z.string().nullable(),
  /** From now on. */
  durationMs: z
    .int()
    .min(60_000)
    .max(30 * 86_400_000),
  reason: z.string().trim().min(1).max(alertLimits.noteChars)
})

export { alertRule, alertRuleDraft, delivery, incident, notifier, silence }
