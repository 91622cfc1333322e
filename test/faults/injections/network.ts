import type { Direction, Strike } from '../tcp-proxy.ts'
import type { World } from '../world.ts'
import type { Injection } from './injection.ts'

const strikes: readonly Strike[] = ['reset', 'end', 'half-request', 'lost-reply', 'lost-commit-reply']
/** How long a strike waits for the traffic that it needs (ms), and on how many links in turn: a process may die while it is waited for. */
const patienceMs = 5_000
const mostTries = 3

/** F4: each way of cutting a link, on a worker's and, for what doubles submissions, on the producer's. Each must happen. */
export const cutLinks: Injection = {
  id: 'F4',
  async inject(world) {
    const ofWorkers = strikes.map(async (strike) => [strike, await strikeWorker(world, strike)] as const)
    const ofProducer = await strikeProducer(world)
    return Object.fromEntries([...(await Promise.all(ofWorkers)), ['lost-commit-reply of the producer', ofProducer]])
  }
}

async function strikeWorker(world: World, strike: Strike): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const victim = await world.victim()
    if (victim && (await victim.proxy.strike(strike, patienceMs))) return 1
  }
  return 0
}

async function strikeProducer({ producer }: World): Promise<number> {
  const struck = producer.proxy.strike('lost-commit-reply', patienceMs)
  await producer.submit(10)
  return (await struck) ? 1 : 0
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
