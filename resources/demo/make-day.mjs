// A day (or more) of a plausible queue, as the points that the sampler would have made: for pictures, and to try alert rules on.
// The same arguments give the same points. The story, told backwards from `to`: a worker dies 50 minutes before the end and stays away
// for 12; the receiver of http-request fails for 14 minutes three hours before; each night at 02:00 UTC a batch of imports fills the queue.

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** perMinute: at the busiest hour; durationMs: of the middle attempt; slots: that this type gets at most of each worker's. */
const types = [
  { type: 'http-request', perMinute: 1_440, durationMs: 420, slots: 4, failure: 0.012 },
  { type: 'book-payment', perMinute: 480, durationMs: 800, slots: 2, failure: 0.004 },
  { type: 'send-receipt', perMinute: 660, durationMs: 350, slots: 2, failure: 0.008 },
  { type: 'import-csv', perMinute: 40, durationMs: 9_000, slots: 2, failure: 0.02 },
  { type: 'import-readings', perMinute: 190, durationMs: 1_900, slots: 2, failure: 0.015 },
  { type: 'count-words', perMinute: 270, durationMs: 120, slots: 1, failure: 0.001 }
]
const slotsOfWorker = 13
const workersKnown = 4

/** One reading's points every `stepMs` of [from, to], with `at`. */
export function* makeDay({ from, to, stepMs = 15_000 }) {
  const random = generator(20_261_130)
  const queues = types.map((kind) => ({ kind, waiting: 0, retrying: 0 }))
  for (let at = from; at <= to; at += stepMs) {
    const story = storyAt(at, to)
    const seen = queues.map((queue) => step(queue, { at, stepMs, story, random }))
    yield { at, points: [...seen.flatMap(pointsOfType), ...wholeQueue(seen, story, random)] }
  }
}

function storyAt(at, to) {
  const minutesLeft = (to - at) / minuteMs
  const minuteOfDay = Math.floor(at / minuteMs) % 1440
  return {
    workers: minutesLeft < 50 && minutesLeft > 38 ? workersKnown - 1 : workersKnown,
    receiverDown: minutesLeft < 180 && minutesLeft > 166,
    batch: minuteOfDay >= 120 && minuteOfDay < 128
  }
}

/** Busy at noon UTC, quiet at night, never nothing. */
const busyness = (at) => 0.18 + 0.82 * Math.max(0, Math.sin(((at / hourMs - 6) / 24) * 2 * Math.PI)) ** 0.8

function step(queue, { at, stepMs, story, random }) {
  const { kind } = queue
  const share = stepMs / minuteMs
  const isHurt = story.receiverDown && kind.type === 'http-request'
  const inBatch = story.batch && kind.type === 'import-csv'
  const arrived = kind.perMinute * busyness(at) * noise(random, 0.25) * (inBatch ? 25 : 1) * share
  const durationMs = kind.durationMs * noise(random, 0.1) * (isHurt ? 3 : 1)
  const room = ((story.workers * kind.slots * minuteMs) / durationMs) * share
  const started = Math.min(room, queue.waiting + arrived + queue.retrying * 0.3)
  const failing = isHurt ? 0.55 : kind.failure * noise(random, 0.6)
  const retried = started * failing * 1.6 * (failing > 0.5 ? 0.5 : 1)
  queue.waiting = Math.max(0, queue.waiting + arrived - started + queue.retrying * 0.3)
  queue.retrying = queue.retrying * 0.7 + retried
  const perMinute = started / share
  return {
    type: kind.type,
    running: Math.round(Math.min(story.workers * kind.slots, (perMinute * durationMs) / minuteMs)),
    waiting: Math.round(queue.waiting),
    retrying: Math.round(queue.retrying),
    oldestMs: queue.waiting < 1 ? 0 : Math.round((queue.waiting / Math.max(perMinute, 0.1)) * minuteMs),
    in1m: Math.round(arrived / share),
    out1m: Math.round(perMinute * (1 - failing)),
    failureRate: failing,
    retryRate: Math.min(1, failing * 1.6),
    recovered: story.workers < workersKnown && kind.slots > 1 ? kind.slots : 0,
    durationMs,
    pickupMs: 30 + (queue.waiting / Math.max(perMinute, 0.1)) * minuteMs * 0.5
  }
}

const ended5m = ({ out1m, failureRate }) => Math.round((5 * out1m) / (1 - failureRate))

function pointsOfType(seen) {
  const of = (metric, value) => ({ metric, type: seen.type, value })
  return [
    ...depth(seen).map(([metric, value]) => of(metric, value)),
    ...['oldestMs', 'in1m', 'out1m', 'failureRate', 'retryRate'].map((metric) => of(metric, seen[metric])),
    of('recovered5m', seen.recovered),
    of('ended5m', ended5m(seen)),
    ...percentiles('duration', seen.durationMs).map(([metric, value]) => of(metric, value)),
    ...percentiles('pickup', seen.pickupMs).map(([metric, value]) => of(metric, value))
  ]
}

function wholeQueue(seen, story, random) {
  const total = (pick) => seen.reduce((sum, one) => sum + pick(one), 0)
  const ended = total((one) => one.out1m + 1)
  const weighed = (name) => total((one) => one[name] * (one.out1m + 1)) / ended
  const running = total((one) => one.running)
  const all = {
    oldestMs: Math.max(...seen.map((one) => one.oldestMs)),
    in1m: total((one) => one.in1m),
    out1m: total((one) => one.out1m),
    failureRate: weighed('failureRate'),
    retryRate: weighed('retryRate'),
    recovered5m: total((one) => one.recovered),
    ended5m: total(ended5m),
    workersAlive: story.workers,
    workersKnown,
    poolUse: running / (story.workers * slotsOfWorker),
    claimP95: (story.batch ? 90 : 9) * noise(random, 0.4),
    databaseUse: (22 + story.workers * 3) / 151,
    threadsRunning: Math.round(2 + 3 * random()),
    schedulesLate: 0,
    monitorMs: 9 * noise(random, 0.3),
    monitorRows: 900 + total((one) => one.waiting + one.running)
  }
  const whole = { running, waiting: total((one) => one.waiting), retrying: total((one) => one.retrying) }
  const named = [
    ...depth(whole),
    ...Object.entries(all),
    ...percentiles('duration', weighed('durationMs')),
    ...percentiles('pickup', weighed('pickupMs'))
  ]
  return named.map(([metric, value]) => ({ metric, type: '', value }))
}

const depth = ({ running, waiting, retrying }) => [
  ['depth.CREATED', 0],
  ['depth.QUEUED', waiting],
  ['depth.RETRY_WAIT', retrying],
  ['depth.PAUSED', 0],
  ['depth.RUNNING', running],
  ['depth.CANCEL_REQUESTED', 0],
  ['depth', running + waiting + retrying]
]

const percentiles = (name, middle) => [
  [`${name}.p50`, middle],
  [`${name}.p95`, middle * 3.4],
  [`${name}.p99`, middle * 6.1]
]

const noise = (random, share) => 1 + share * (random() * 2 - 1)

/** Numbers of [0, 1); mulberry32. */
function generator(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
