import type { World } from './world.ts'

/** Keeps tasks waiting while faults are injected: a fault on an idle queue would prove nothing. */
export class Feeder {
  private readonly world: World
  private left: number

  constructor(world: World, tasks: number) {
    this.world = world
    this.left = tasks
  }

  async feed(): Promise<void> {
    const open = await this.world.unfinished()
    const wanted = this.left > 0 ? Math.min(this.left, mostWaiting) : fewestWaiting
    if (open >= wanted) return
    this.left -= wanted - open
    await this.world.producer.submit(wanted - open)
  }

  /** What is still to be submitted when the time for faults is over. */
  async finish(): Promise<void> {
    if (this.left > 0) await this.world.producer.submit(this.left)
    this.left = 0
  }

  async isDone(): Promise<boolean> {
    return this.left <= 0 && (await this.world.unfinished()) === 0
  }
}

const mostWaiting = 5_000
const fewestWaiting = 50
