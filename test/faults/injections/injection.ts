import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '../world.ts'

/** One kind of fault of RELIABILITY's matrix that is done to a running fleet. */
export interface Injection {
  readonly id: FaultId
  /** Resolves when it was injected (it may heal later: `world.heal`) to how often it happened, or how often each form of it. */
  inject(world: World): Promise<number | Readonly<Record<string, number>>>
  /** Why it cannot run here. */
  readonly unable?: () => string | undefined
}

export const faultIds = [
  'F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'F9', 'F10', 'F11', 'F12', 'F13', 'F17', 'F18', 'F19'
] as const // prettier-ignore
export type FaultId = (typeof faultIds)[number]

/** The library that gives a process another clock; undefined when it is not installed. */
export function fakeTimeLibrary(): string | undefined {
  const folders = ['/usr/lib', '/usr/local/lib', '/usr/lib64']
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    .map((folder) => join(folder, 'faketime/libfaketime.so.1'))
    .find((file) => existsSync(file))
}

export const withoutFakeTime = (): string | undefined =>
  fakeTimeLibrary() === undefined ? 'libfaketime is not installed (apt-get install faketime)' : undefined
