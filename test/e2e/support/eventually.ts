import { expect } from 'vitest'

/** Asks until it holds. The default of one second is short for two cores under a browser. */
export const eventually: typeof expect.poll = (look, options) => expect.poll(look, { timeout: 30_000, ...options })
