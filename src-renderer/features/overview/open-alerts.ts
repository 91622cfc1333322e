import { isSilenced, type AlertSignal, type AlertState, type Firing, type Incident } from '@contract'

/** Something that fires now, and the incident that it belongs to. */
export interface OpenAlert {
  readonly incident: Incident
  readonly firing: Firing
  /** What else of the incident fires. */
  readonly others: readonly Firing[]
}

/** What says most about the trouble first: what users feel, then what wears out, then what watches. */
const rank: readonly AlertSignal[] = [
  'progressStopped',
  'failureRate',
  'oldestMs',
  'workersSilent',
  'growth',
  'recoveredRise',
  'schedulesLate',
  'poolUse',
  'databaseUse',
  'claimP95',
  'blindMs'
]
/**
 * The worst of what fires and is not silent: what a sentence is `about` already, what nobody has taken yet, then by what it watches; that of one type
 * names more.
 */
export function worstAlert(
  state: AlertState | undefined,
  about: (firing: Firing) => boolean = () => false
): OpenAlert | null {
  const isOther = (one: Firing): number => Number(!about(one))
  const isFiring = (one: Firing): boolean =>
    one.firedAt !== null && one.resolvedAt === null && !isSilenced(state?.rules ?? [], one)
  const found = (state?.open ?? []).flatMap((incident) => {
    const firings = incident.firings.filter(isFiring).sort((a, b) => isOther(a) - isOther(b) || byRank(a, b))
    const [firing, ...others] = firings
    return firing ? [{ incident, firing, others }] : []
  })
  const isTaken = (one: OpenAlert): number => Number(one.incident.acknowledged !== null)
  const order = (a: OpenAlert, b: OpenAlert): number =>
    isOther(a.firing) - isOther(b.firing) || isTaken(a) - isTaken(b) || byRank(a.firing, b.firing)
  return found.sort(order)[0] ?? null
}

const byRank = (a: Firing, b: Firing): number =>
  rank.indexOf(a.signal) - rank.indexOf(b.signal) || Number(b.type !== '') - Number(a.type !== '')

/** The whole queue's firing of one figure, for the number that shows it. */
export function firingOf(state: AlertState | undefined, signal: AlertSignal): Firing | null {
  return (
    (state?.open ?? [])
      .flatMap((incident) => incident.firings)
      .find((one) => one.signal === signal && one.type === '' && one.firedAt !== null && one.resolvedAt === null) ??
    null
  )
}
