import { IconAlertTriangle, IconBellOff, IconBellPlus, IconSend } from '@/shared/icons/index.ts'
import { useI18n } from 'vue-i18n'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useCommands, type Command } from '@/shared/commands.ts'

/** What alerts can be asked for from anywhere: each opens the page where it is done. */
export function useAlertCommands(): void {
  const { t } = useI18n()
  const alerts = useAlertsStore()
  const connections = useConnectionsStore()

  useCommands(() => {
    const params = { connectionId: connections.currentId }
    const on = (id: string, name: string, icon: Command['icon'], query: Record<string, string>): Command => ({
      id: `alerts.${id}`,
      group: 'do',
      name,
      detail: connections.current?.name,
      icon,
      to: { name: 'alerts', params, query }
    })
    const firing = (alerts.states.get(connections.currentId)?.open ?? []).flatMap((incident) => {
      const [first] = incident.firings.filter((one) => one.firedAt !== null && one.resolvedAt === null)
      if (!first) return []
      const rule = [t(`alerts.signal.${first.signal}`), first.type].filter(Boolean).join(' · ')
      return [
        on(`incident.${incident.id}`, t('alerts.commands.openIncident', { rule }), IconAlertTriangle, {
          incident: incident.id
        })
      ]
    })
    return [
      ...firing,
      on('new', t('alerts.commands.newRule'), IconBellPlus, { rule: 'new' }),
      on('silence', t('alerts.commands.silenceAll'), IconBellOff, { silence: 'all' }),
      on('notifiers', t('alerts.commands.notifiers'), IconSend, { notifier: 'all' })
    ]
  })
}
