import { expect } from 'vitest'

/** Asks until it holds. The default of one second is short for two cores under a browser. */
export const eventually = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: 30_000 })
