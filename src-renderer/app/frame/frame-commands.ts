import {
  IconBolt,
  IconLanguage,
  IconMoon,
  IconPlus,
  IconRefresh,
  IconSend,
  IconSun,
  IconSunMoon
} from '@/shared/icons/index.ts'
import { useI18n } from 'vue-i18n'
import type { Settings } from '@contract'
import { useAppStore } from '@/state/app-store.ts'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useLocalWorkerStore } from '@/state/local-worker-store.ts'
import { useCommands, type Command } from '@/shared/commands.ts'
import { obstacleOf } from '@/shared/obstacle.ts'
import { toProblem } from '@/transport/problem.ts'
import { pageRoute, pages } from '../navigation.ts'
import { useAlertCommands } from './alert-commands.ts'

/** The commands that exist on every page: all pages, all connections, and what the app can be asked for from anywhere. */
export function useFrameCommands(): void {
  const { t } = useI18n()
  const app = useAppStore()
  const connections = useConnectionsStore()
  const worker = useLocalWorkerStore()

  /** A command has no place of its own to show a failure. */
  async function told(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => app.addNotice(toProblem(error)))
  }
  const themes: [Settings['theme'], Command['icon']][] = [
    ['dark', IconMoon],
    ['light', IconSun],
    ['system', IconSunMoon]
  ]

  useAlertCommands()
  useCommands(() =>
    pages.map((page) => ({
      id: `page.${page.name}`,
      group: 'go',
      name: t(`pages.${page.name}`),
      icon: page.icon,
      keys: `G ${page.letter.toUpperCase()}`,
      to: pageRoute(page, connections.currentId)
    }))
  )
  useCommands(() =>
    connections.all.map((one) => ({
      id: `connection.${one.id}`,
      group: 'connection',
      name: one.name,
      detail: `${t(`environments.${one.environment}`)} · ${t(`link.${one.link.status}`)}`,
      to: { name: 'overview', params: { connectionId: one.id } }
    }))
  )
  useCommands(() => [
    {
      id: 'connection-new',
      group: 'do',
      name: t('frame.newConnection'),
      icon: IconPlus,
      to: { name: 'connection-new' }
    },
    {
      id: 'enqueue',
      group: 'do',
      name: t('frame.commands.enqueue'),
      detail: connections.current?.name,
      icon: IconSend,
      off: enqueueObstacle(),
      to: { name: 'tasks', params: { connectionId: connections.currentId }, query: { new: '1' } }
    },
    ...sampleCommands(),
    {
      id: 'retry-now',
      group: 'do',
      name: t('frame.commands.retryNow'),
      icon: IconRefresh,
      off: connections.current?.link.status === 'lost' ? undefined : t('frame.commands.notLost'),
      run: () => told(connections.retryNow(connections.currentId))
    },
    ...themes.map(([theme, icon]): Command => ({
      id: `theme.${theme}`,
      group: 'do',
      name: t(`frame.commands.theme.${theme}`),
      icon,
      run: () => app.saveSettings({ theme })
    })),
    {
      id: 'language',
      group: 'do',
      name: t('frame.commands.language'),
      icon: IconLanguage,
      run: () => app.saveSettings({ language: t('common.code') === 'en' ? 'zh-CN' : 'en' })
    }
  ])

  function enqueueObstacle(): string | undefined {
    const found = connections.current && obstacleOf(connections.current)
    return found ? t(`enqueue.cannot.${found}`) : undefined
  }

  function sampleCommands(): Command[] {
    const sample = worker.view?.sample ?? null
    if (sample !== null) {
      const name = t('frame.commands.stopSample')
      return [{ id: 'sample', group: 'do', name, icon: IconBolt, run: () => told(worker.stopSample()) }]
    }
    return [
      {
        id: 'sample',
        group: 'do',
        name: t('frame.commands.startSample'),
        detail: t('frame.commands.sampleWhere'),
        icon: IconBolt,
        run: () => told(worker.runSample('local', 'steady'))
      }
    ]
  }
}
