import type { Pinia } from 'pinia'
import { createRouter, createWebHashHistory, type Router, type RouteRecordRaw } from 'vue-router'
import { localConnectionId } from '@contract'
import { useConnectionsStore } from '@/state/connections-store.ts'

const lastKey = 'taskdeck.connection'

/** Hash mode, because one index.html serves both shells. The connection, range, filters and open task are in the address. */
export const routes: RouteRecordRaw[] = [
  { path: '/', redirect: () => `/c/${localStorage.getItem(lastKey) ?? localConnectionId}/overview` },
  {
    path: '/c/:connectionId/overview',
    name: 'overview',
    component: () => import('@/features/overview/OverviewPage.vue')
  },
  { path: '/c/:connectionId/tasks', name: 'tasks', component: () => import('@/features/tasks/TasksPage.vue') },
  { path: '/c/:connectionId/workers', name: 'workers', component: () => import('@/features/workers/WorkersPage.vue') },
  { path: '/c/:connectionId/alerts', name: 'alerts', component: () => import('@/features/alerts/AlertsPage.vue') },
  {
    path: '/c/:connectionId/database',
    name: 'database',
    component: () => import('@/features/database/DatabasePage.vue')
  },
  {
    path: '/c/:connectionId/capacity',
    name: 'capacity',
    component: () => import('@/features/capacity/CapacityPage.vue')
  },
  { path: '/c/:connectionId/types/:type', name: 'type', component: () => import('@/features/types/TypePage.vue') },
  {
    path: '/local-worker',
    name: 'local-worker',
    component: () => import('@/features/local-worker/LocalWorkerPage.vue')
  },
  { path: '/fleet', name: 'fleet', component: () => import('@/features/fleet/FleetPage.vue') },
  { path: '/connections', name: 'connections', component: () => import('@/features/connections/ConnectionsPage.vue') },
  {
    path: '/connections/new',
    name: 'connection-new',
    component: () => import('@/features/connections/ConnectionFormPage.vue')
  },
  {
    path: '/connections/:editedId/edit',
    name: 'connection-edit',
    component: () => import('@/features/connections/ConnectionFormPage.vue')
  },
  { path: '/settings', name: 'settings', component: () => import('@/features/settings/SettingsPage.vue') },
  { path: '/:rest(.*)*', name: 'unknown', component: () => import('./frame/UnknownPage.vue') }
]

export function createPageRouter(pinia: Pinia): Router {
  // Pages that belong to no connection keep the last one, also across a restart.
  useConnectionsStore(pinia).currentId = localStorage.getItem(lastKey) ?? localConnectionId
  const router = createRouter({ history: createWebHashHistory(), routes })
  router.afterEach((to, _from, failure) => {
    const id = to.params['connectionId']
    // Told of a navigation too that another one overtook, and after that one.
    if (failure || typeof id !== 'string') return
    useConnectionsStore(pinia).currentId = id
    localStorage.setItem(lastKey, id)
  })
  return router
}
