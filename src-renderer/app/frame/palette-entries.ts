import { IconChartLine, IconHash, IconListDetails, IconServer2 } from '@/shared/icons/index.ts'
import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useMetricsStore } from '@/state/metrics-store.ts'
import { allCommands, type Command } from '@/shared/commands.ts'
import { count } from '@/shared/format/format.ts'
import { findCommands, parseQuery } from './palette-search.ts'

export interface PaletteGroup {
  readonly name: string
  readonly entries: readonly Command[]
}

const shownInGroup = 8

/** What the palette lists for an input: commands, and the types, workers and task ids of the current connection. */
export function usePaletteEntries(input: Ref<string>): ComputedRef<PaletteGroup[]> {
  const { t } = useI18n()
  const connections = useConnectionsStore()
  const metrics = useMetricsStore()
  const params = computed(() => ({ connectionId: connections.currentId }))
  const reading = computed(() => metrics.readings.get(connections.currentId))
  /** Of another application's table there are figures and no tasks. */
  const hasTasks = computed(() => !connections.current?.profile)

  function types(): Command[] {
    const depth = new Map<string, number>()
    for (const flow of reading.value?.flow ?? []) depth.set(flow.type, 0)
    for (const part of reading.value?.depth ?? []) depth.set(part.type, (depth.get(part.type) ?? 0) + part.count)
    return [...depth].flatMap(([type, waiting]): Command[] => {
      if (type === '') return [] // no address can name it
      const detail = t('frame.palette.live', { count: count(waiting) })
      const picture = { name: 'type', params: { ...params.value, type } }
      const tasks = { name: 'tasks', params: params.value, query: { type } }
      return [
        {
          id: `type.${type}`,
          group: 'go',
          name: t('types.openType', { type }),
          detail,
          icon: IconChartLine,
          to: picture
        },
        ...(hasTasks.value
          ? [
              {
                id: `tasks.${type}`,
                group: 'go' as const,
                name: t('frame.palette.tasksOf', { type }),
                detail,
                icon: IconListDetails,
                to: tasks
              }
            ]
          : [])
      ]
    })
  }

  function workers(): Command[] {
    return (reading.value?.workers ?? []).map((worker) => ({
      id: `worker.${worker.id}`,
      group: 'go',
      name: worker.id,
      detail: worker.host,
      icon: IconServer2,
      to: { name: 'workers', params: params.value, query: { worker: worker.id } }
    }))
  }

  function task(id: string): Command[] {
    if (!hasTasks.value || !/^[1-9]\d{0,19}$/.test(id)) return []
    const to = { name: 'tasks', params: params.value, query: { task: id } }
    return [{ id: 'task', group: 'go', name: t('frame.palette.openTask', { id }), icon: IconHash, to }]
  }

  function group(name: string, entries: readonly Command[]): PaletteGroup[] {
    return entries.length > 0 ? [{ name: t(`frame.palette.${name}`), entries: entries.slice(0, shownInGroup) }] : []
  }

  return computed(() => {
    const query = parseQuery(input.value)
    if (query.mode === 'task') return group('tasks', task(query.text))
    if (query.mode === 'worker') return group('workers', findCommands(workers(), query))
    const found = findCommands([...allCommands(), ...(query.text ? [...types(), ...workers()] : [])], query)
    const of = (kind: Command['group']): Command[] => found.filter((command) => command.group === kind)
    return [
      ...group('tasks', query.mode === 'all' ? task(query.text) : []),
      ...group('go', of('go')),
      ...group('connections', of('connection')),
      ...group('do', of('do'))
    ]
  })
}
