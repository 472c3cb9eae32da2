/** One response to a write, or its absence, as a client saw it. Times are of `performance.now()`. */
export interface Attempt {
  readonly host: string
  readonly sentAt: number
  readonly endedAt: number
  /** Absent: the connection broke, or nothing came within the client's limit. */
  readonly status?: number
}

/** A write under one idempotency key, which its client sent until it succeeded. */
export interface AcknowledgedWrite {
  readonly id: string
  readonly acknowledgedAt: number
}

/** What a host said about itself. */
export interface ReadinessSample {
  readonly host: string
  readonly at: number
  /** Whether it was ready. Absent: it did not reply. */
  readonly ready?: boolean
  /** Whether it said that its database has lost history, for which it is rightly not ready while it works. */
  readonly lostHistory?: boolean
}

/** How many responses were of which kind. */
export interface ResponseCounts {
  readonly sent: number
  readonly ok: number
  readonly denied: number
  readonly failed: number
  readonly unanswered: number
}

/** Counts responses by kind. */
export function countResponses(attempts: readonly Attempt[]): ResponseCounts {
  const count = (from: number, below: number): number =>
    attempts.filter(({ status = 0 }) => status >= from && status < below).length
  return {
    sent: attempts.length,
    ok: count(200, 300),
    denied: count(400, 500),
    failed: count(500, 600),
    unanswered: attempts.filter(({ status }) => status === undefined).length,
  }
}

/** Which acknowledged writes are not there, and how many are there more than once or under no key. */
export function compareWrites(
  acknowledged: readonly AcknowledgedWrite[],
  stored: readonly string[],
): { readonly lost: readonly AcknowledgedWrite[]; readonly doubled: number } {
  const times = new Map<string, number>()
  for (const id of stored) times.set(id, (times.get(id) ?? 0) + 1)
  const lost = acknowledged.filter(({ id }) => !times.has(id))
  return { lost, doubled: stored.length - (acknowledged.length - lost.length) }
}

/** The longest time without a successful write, in ms, within the time of all attempts. */
export function longestGapMs(attempts: readonly Attempt[]): number {
  const from = Math.min(...attempts.map(({ sentAt }) => sentAt))
  const to = Math.max(...attempts.map(({ endedAt }) => endedAt))
  const successes = attempts.filter(({ status }) => status === 200).map(({ endedAt }) => endedAt)
  const times = [from, ...successes.toSorted((one, other) => one - other), to]
  return Math.max(...times.slice(1).map((time, at) => time - (times[at] as number)))
}

/** For how many seconds the hosts had said for some time what was not so, over all hosts. */
export interface WrongReadiness {
  /** It had been ready throughout, and at least half of the writes had failed there, or all waited. */
  readonly readyWhileFailing: number
  /** It had not been ready throughout, and writes had succeeded there all the time. */
  readonly notReadyWhileWorking: number
}

/** Writes that succeed all the time do so at least this often, in ms. */
const WORKING_GAP_MS = 2000

/**
 * Compares, at each second, what hosts said about themselves in the `noticeMs` before it with the outcomes of writes in that time. So a host has
 * that long to notice a change.
 */
export function judgeReadiness(
  samples: readonly ReadinessSample[],
  attempts: readonly Attempt[],
  noticeMs: number,
): WrongReadiness {
  const wrong = { readyWhileFailing: 0, notReadyWhileWorking: 0 }
  for (const host of new Set(samples.map(sample => sample.host))) {
    const said = samples.filter(sample => sample.host === host)
    const sent = attempts.filter(attempt => attempt.host === host)
    const first = said[0]?.at as number
    const last = said.at(-1)?.at as number
    for (let to = first + noticeMs; to <= last; to += 1000) {
      const window = { from: to - noticeMs, to }
      const state = saidThroughout(said, window)
      if (state === 'ready' && areFailing(sent, window)) wrong.readyWhileFailing += 1
      if (state === 'not ready' && areWorking(sent, window)) wrong.notReadyWhileWorking += 1
    }
  }
  return wrong
}

interface Window {
  readonly from: number
  readonly to: number
}

function saidThroughout(
  samples: readonly ReadinessSample[],
  { from, to }: Window,
): 'ready' | 'not ready' | undefined {
  const within = samples.filter(({ at }) => at >= from && at <= to)
  if (within.every(({ ready }) => ready === true)) return 'ready'
  return within.every(({ ready, lostHistory }) => ready === false && !lostHistory) ? 'not ready' : undefined
}

function areFailing(attempts: readonly Attempt[], { from, to }: Window): boolean {
  const ended = attempts.filter(({ endedAt }) => endedAt >= from && endedAt <= to)
  const failed = ended.filter(isFailure).length
  const waiting = attempts.some(({ sentAt, endedAt }) => sentAt < from && endedAt > to)
  return failed * 2 >= ended.length && (failed > 0 || waiting)
}

function areWorking(attempts: readonly Attempt[], { from, to }: Window): boolean {
  const ended = attempts.filter(({ endedAt }) => endedAt >= from && endedAt <= to)
  if (ended.some(isFailure)) return false
  const times = [from, ...ended.map(({ endedAt }) => endedAt).toSorted((one, other) => one - other), to]
  return times.slice(1).every((time, at) => time - (times[at] as number) <= WORKING_GAP_MS)
}

function isFailure({ status }: Attempt): boolean {
  return status === undefined || status >= 500
}
