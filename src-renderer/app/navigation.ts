import {
  IconBellRinging,
  IconBolt,
  IconDatabase,
  IconGauge,
  IconLayoutDashboard,
  IconListDetails,
  IconPlug,
  IconServer2,
  IconSettings,
  IconStack2
} from '@/shared/icons/index.ts'
import type { Component } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

export interface PageEntry {
  /** Also the route's name, and `pages.NAME` in the i18n files. */
  readonly name:
    | 'overview'
    | 'tasks'
    | 'workers'
    | 'alerts'
    | 'database'
    | 'capacity'
    | 'local-worker'
    | 'fleet'
    | 'connections'
    | 'settings'
  readonly icon: Component
  /** After `g`. */
  readonly letter: string
  readonly ofConnection: boolean
}

/** Every page that exists, in the order of the rail. */
export const pages: readonly PageEntry[] = [
  { name: 'overview', icon: IconLayoutDashboard, letter: 'o', ofConnection: true },
  { name: 'tasks', icon: IconListDetails, letter: 't', ofConnection: true },
  { name: 'workers', icon: IconServer2, letter: 'w', ofConnection: true },
  { name: 'alerts', icon: IconBellRinging, letter: 'a', ofConnection: true },
  { name: 'database', icon: IconDatabase, letter: 'd', ofConnection: true },
  { name: 'capacity', icon: IconGauge, letter: 'p', ofConnection: true },
  { name: 'local-worker', icon: IconBolt, letter: 'l', ofConnection: false },
  { name: 'fleet', icon: IconStack2, letter: 'f', ofConnection: false },
  { name: 'connections', icon: IconPlug, letter: 'c', ofConnection: false },
  { name: 'settings', icon: IconSettings, letter: 's', ofConnection: false }
]

export function pageRoute(page: PageEntry, connectionId: string): RouteLocationRaw {
  return page.ofConnection ? { name: page.name, params: { connectionId } } : { name: page.name }
}
