import type { Silence } from '../kernel/index.ts'

/** Silences that have not ended, by the app's clock. */
export class Silences {
  private silences: readonly Silence[]

  constructor(silences: readonly Silence[]) {
    this.silences = silences
  }

  of(connectionId: string, now: number): Silence[] {
    return this.silences.filter((silence) => silence.connectionId === connectionId && isOn(silence, now))
  }

  find(connectionId: string, silenceId: string, now: number): Silence | undefined {
    return this.of(connectionId, now).find(({ id }) => id === silenceId)
  }

  add(silence: Silence): void {
    this.silences = [...this.silences, silence]
  }

  drop(isDropped: (silence: Silence) => boolean): void {
    this.silences = this.silences.filter((silence) => !isDropped(silence))
  }

  /** Until when nobody is told of this rule; null: somebody is. */
  until(rule: { connectionId: string; ruleId: string }, now: number): number | null {
    const silences = this.of(rule.connectionId, now).filter(({ ruleId }) => ruleId === null || ruleId === rule.ruleId)
    return silences.length === 0 ? null : Math.max(...silences.map(({ until }) => until))
  }

  /** Connections of silences that have ended; these are forgotten. */
  takeEnded(now: number): string[] {
    const ended = this.silences.filter(({ until }) => until <= now)
    if (ended.length > 0) this.drop(({ until }) => until <= now)
    return [...new Set(ended.map(({ connectionId }) => connectionId))]
  }
}

/** From its making on, also when the clock was set back since. */
const isOn = ({ until }: Silence, now: number): boolean => now < until
