import type { ParsedNotifierDraft } from '../alerts/notifiers.ts'
import type { Implementer } from './implementer.ts'
import type { Services } from './services.ts'

export function alertProcedures(os: Implementer, services: Services) {
  const { alerts, notifiers } = services
  /** Throws NOT_FOUND for one that is gone. */
  const known = (connectionId: string): string => services.connections.view(connectionId).id
  return os.alerts.router({
    get: os.alerts.get.handler(({ input }) => alerts.state(known(input.connectionId))),
    saveRule: os.alerts.saveRule.handler(({ input }) =>
      alerts.saveRule(known(input.connectionId), input.ruleId, input.rule)
    ),
    removeRule: os.alerts.removeRule.handler(({ input }) => alerts.removeRule(known(input.connectionId), input.ruleId)),
    preview: os.alerts.preview.handler(({ input }) =>
      alerts.preview(known(input.connectionId), input.rule, input.rangeMs)
    ),
    incidents: os.alerts.incidents.handler(({ input }) => alerts.incidents(known(input.connectionId), input)),
    acknowledge: os.alerts.acknowledge.handler(({ input }) =>
      alerts.acknowledge(known(input.connectionId), input.incidentId, input.note)
    ),
    silence: os.alerts.silence.handler(({ input }) => {
      known(input.connectionId)
      return alerts.silence(input)
    }),
    unsilence: os.alerts.unsilence.handler(({ input }) => alerts.unsilence(known(input.connectionId), input.silenceId)),
    notifiers: os.alerts.notifiers.handler(() => notifiers.list()),
    saveNotifier: os.alerts.saveNotifier.handler(({ input }) => saveNotifier(services, input)),
    removeNotifier: os.alerts.removeNotifier.handler(async ({ input: { notifierId } }) => {
      await services.audited({ connectionId: '', action: 'alerts.removeNotifier', target: notifierId }, () =>
        notifiers.remove(notifierId)
      )
      return notifiers.list()
    }),
    testNotifier: os.alerts.testNotifier.handler(({ input }) => notifiers.test(input.notifierId)),
    deliveries: os.alerts.deliveries.handler(() => notifiers.deliveries())
  })
}

async function saveNotifier({ audited, notifiers }: Services, draft: ParsedNotifierDraft) {
  // Whether there is a new address is part of the record; the address is not.
  const { address, ...shown } = draft
  const target = JSON.stringify({ ...shown, newAddress: address !== null })
  await audited({ connectionId: '', action: 'alerts.saveNotifier', target }, () => notifiers.save(draft))
  return notifiers.list()
}
