import type { Direction, Strike } from '../tcp-proxy.ts'
import type { World } from '../world.ts'
import type { Injection } from './injection.ts'

const strikes: readonly Strike[] = ['reset', 'end', 'half-request', 'lost-reply', 'lost-commit-reply']
/** How long a strike waits for the traffic that it needs (ms). */
const patienceMs = 3_000

/** F4: each way of cutting a link, on a worker's and, for what doubles submissions, on the producer's. */
export const cutLinks: Injection = {
  id: 'F4',
  async inject(world) {
    const hits: Promise<boolean>[] = []
    for (const strike of strikes) {
      const victim = await world.victim()
      if (victim) hits.push(victim.proxy.strike(strike, patienceMs))
    }
    const lost = world.producer.proxy.strike('lost-commit-reply', patienceMs)
    await world.producer.submit(10)
    const struck = await Promise.all([...hits, lost])
    return struck.filter(Boolean).length
  }
}

/** F5: silence in both directions for three leases; then everything that was held back arrives. */
export const pauseLink: Injection = {
  id: 'F5',
  inject: (world) => silence(world, ['toServer', 'toClient'])
}

/** F6: the same in one direction. */
export const oneWay: Injection = {
  id: 'F6',
  inject: async (world) => (await silence(world, ['toClient'])) + (await silence(world, ['toServer']))
}

async function silence(world: World, directions: readonly Direction[]): Promise<number> {
  const victim = await world.victim()
  if (!victim) return 0
  victim.proxy.silence(...directions)
  world.afflict(victim, world.options.leaseMs * 3, () => victim.proxy.resume())
  return 1
}
