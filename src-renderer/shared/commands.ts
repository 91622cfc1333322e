import { onScopeDispose, shallowReactive, type Component } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

/** One entry of the command palette. It has `to` or `run`. Texts come translated. */
export interface Command {
  readonly id: string
  readonly group: 'go' | 'do' | 'connection'
  readonly name: string
  readonly detail?: string
  readonly icon?: Component
  /** Key caps, as KeyHint takes them. */
  readonly keys?: string
  /** Why it cannot be done now. */
  readonly off?: string
  readonly to?: RouteLocationRaw
  readonly run?: () => unknown
}

const sources = shallowReactive(new Set<() => readonly Command[]>())

/** Adds commands for the life of the calling component. The getter may read reactive state. */
export function useCommands(source: () => readonly Command[]): void {
  sources.add(source)
  onScopeDispose(() => sources.delete(source))
}

/** The commands of all components that are alive. */
export function allCommands(): Command[] {
  return [...sources].flatMap((source) => source())
}
