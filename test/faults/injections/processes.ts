import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../world.ts'
import { fakeTimeLibrary, withoutFakeTime, type Injection } from './injection.ts'

/** F1: any moment; the named points are in payloads (see producer.ts). */
export const killProcess: Injection = {
  id: 'F1',
  async inject(world) {
    const victim = await world.victim()
    if (!victim) return 0
    await world.fleet.kill9(victim)
    return 1
  }
}

/** F7: wakes up with leases that others hold by then. */
export const freezeProcess: Injection = {
  id: 'F7',
  async inject(world) {
    const victim = await world.victim()
    if (!victim) return 0
    victim.process.kill('SIGSTOP')
    world.afflict(victim, world.options.leaseMs * (2 + world.random.next()), () => victim.process.kill('SIGCONT'))
    return 1
  }
}

/** F8: an hour ahead, an hour behind, and one whose clock jumps back two hours while it holds leases. Local deadlines are monotonic. */
export const wrongClocks: Injection = {
  id: 'F8',
  unable: withoutFakeTime,
  async inject(world) {
    const file = join(world.folder, `clock-${world.random.below(1_000_000)}`)
    writeFileSync(file, '+1h\n')
    await Promise.all([
      world.fleet.add(clockEnv({ FAKETIME: '+1h', TZ: 'Asia/Kathmandu' })),
      world.fleet.add(clockEnv({ FAKETIME: '-1h', TZ: 'America/St_Johns' })),
      world.fleet.add(clockEnv({ FAKETIME_TIMESTAMP_FILE: file, FAKETIME_CACHE_DURATION: '1', TZ: 'Europe/Berlin' }))
    ])
    world.heal(sleep(1_500).then(() => writeFileSync(file, '-1h\n')))
    return 3
  }
}

const clockEnv = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  LD_PRELOAD: fakeTimeLibrary(),
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  ...env
})

/** F18: at a random moment of the first two seconds, mostly while it starts. It must end in its grace and claim nothing more. */
export const terminateProcess: Injection = {
  id: 'F18',
  async inject(world) {
    world.heal(terminateSoon(world, world.random.below(2_000)))
    const running = await world.victim()
    if (running) world.heal(mustEnd(world, running))
    return running ? 2 : 1
  }
}

async function terminateSoon(world: World, afterMs: number): Promise<void> {
  const { member, ready } = await world.fleet.spawn()
  await Promise.race([sleep(afterMs), ready.then(() => sleep(afterMs / 4))])
  await mustEnd(world, member)
}

async function mustEnd(world: World, member: Parameters<World['fleet']['terminate']>[0]): Promise<void> {
  const { ms, killed } = await world.fleet.terminate(member)
  if (killed) world.problems.push(`F18: ${member.account} was still there ${Math.round(ms)} ms after SIGTERM`)
}
