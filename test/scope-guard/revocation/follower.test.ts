import { FEED_LANES, FEED_RETENTION_MS, type FeedEntry } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import type { RevocationFeed } from '@gatewright/scope-guard'
import t, { type Test } from 'tap'
import { collectGarbage } from '../../harness/collect-garbage.ts'
import { bench } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: [] }
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A timer that runs when the test says so. */
interface Timer {
  readonly ms: number
  readonly run: () => void
  cleared: boolean
}

/** Holds back the timers of this process until the test ends. */
function heldTimers(test: Test): { readonly waiting: (ms: number) => Timer[] } {
  const timers: Timer[] = []
  const { setTimeout, clearTimeout } = globalThis
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    const timer: Timer = { ms, run, cleared: false }
    timers.push(timer)
    return timer
  }) as never
  globalThis.clearTimeout = timer => {
    if (timer) (timer as unknown as Timer).cleared = true
  }
  test.teardown(() => Object.assign(globalThis, { setTimeout, clearTimeout }))
  return { waiting: ms => timers.filter(timer => timer.ms === ms && !timer.cleared) }
}

/** A guard that follows a feed whose polls end when the test ends them. */
async function follower(options: { readonly held?: boolean; readonly boundMs?: number } = {}) {
  const { held = false, ...bounds } = options
  const entries: FeedEntry[] = []
  const polls: (readonly number[])[] = []
  const ends: (() => void)[] = []
  let [running, most, unsubscribed] = [0, 0, false]
  let notify = (): void => {}
  let isHeld = false
  const feed: RevocationFeed = {
    async after(positions, limit) {
      polls.push(positions)
      most = Math.max(most, ++running)
      const found = positions.flatMap((position, lane) =>
        entries.filter(entry => entry.lane === lane && entry.position > position).slice(0, limit),
      )
      if (isHeld) await new Promise<void>(resolve => ends.push(resolve))
      running--
      return found
    },
    async subscribe(listener) {
      notify = listener
      return async () => {
        await turn()
        unsubscribed = true
      }
    },
  }
  let queries = 0
  const isLive = async (): Promise<boolean> => {
    queries++
    return true
  }
  const monotonic = manualClock(0)
  const made = await bench({ revocation: { mode: 'feed', feed, isLive, monotonic, ...bounds } })
  await made.guard.start()
  isHeld = held
  const revoked = async (changes: object): Promise<boolean> =>
    !(await made.guard.check({ authorization: await made.bearer(changes) }, rule)).ok
  return {
    ...made,
    entries,
    polls,
    ends,
    monotonic,
    revoked,
    notify: () => notify(),
    queries: () => queries,
    most: () => most,
    unsubscribed: () => unsubscribed,
  }
}

t.test(
  'reads each page of a lane from the end of the one before, while another lane is read to its end',
  async t => {
    const { entries, polls, guard, notify, clock, revoked } = await follower()
    t.teardown(() => guard.stop())
    for (let position = 1; position <= 2001; position++)
      entries.push({ kind: 'session', id: `s${position}`, at: clock.now(), lane: 7, position })
    entries.push({ kind: 'session', id: 'other', at: clock.now(), lane: 8, position: 5 })
    notify()
    await turn()
    notify()
    await turn()
    t.same(
      polls.map(positions => [positions.length, positions[7], positions[8]]),
      [0, 0, 1000, 2000, 2001].map((at, poll) => [FEED_LANES, at, poll < 2 ? 0 : 5]),
    )
    for (const sessionId of ['s1', 's2001', 'other']) t.equal(await revoked({ sessionId }), true)
  },
)

t.test('knows two revocations of a key with one position in two lanes', async t => {
  const { entries, guard, notify, clock, revoked } = await follower()
  t.teardown(() => guard.stop())
  const entry = { kind: 'key', id: 'key_1', at: clock.now(), position: 1 } as const
  entries.push({ ...entry, version: 2, lane: 0 }, { ...entry, version: 3, lane: 1 })
  notify()
  await turn()
  t.equal(await revoked({ keyVersion: 2 }), true)
})

t.test(
  'polls once more after any number of notifications during a poll, and never twice at once',
  async t => {
    const { entries, polls, ends, guard, notify, revoked, most, clock } = await follower({ held: true })
    t.teardown(() => guard.stop())
    notify()
    await turn()
    t.equal(polls.length, 2)
    // The poll has read the feed before this entry.
    entries.push({ kind: 'session', id: 'ses_1', at: clock.now(), lane: 0, position: 1 })
    for (let times = 0; times < 3; times++) notify()
    await turn()
    t.equal(polls.length, 2)
    ends.shift()?.()
    await turn()
    t.equal(polls.length, 3)
    ends.shift()?.()
    await turn()
    t.equal(polls.length, 3)
    t.equal(most(), 1)
    t.equal(await revoked({}), true)
  },
)

t.test('polls four times per bound until it is stopped, by default every quarter of a second', async t => {
  const timers = heldTimers(t)
  for (const [options, pollMs] of [
    [{}, 250],
    [{ boundMs: 400 }, 100],
    [{ boundMs: 100 }, 25],
  ] as const) {
    const { polls, guard, notify, unsubscribed } = await follower(options)
    for (let times = 1; times <= 3; times++) {
      t.equal(polls.length, times)
      const [timer, ...others] = timers.waiting(pollMs)
      t.same(others, [])
      ;(timer as Timer).cleared = true
      timer?.run()
      await turn()
    }
    await guard.stop()
    t.equal(unsubscribed(), true)
    t.same(timers.waiting(pollMs), [])
    notify()
    await turn()
    t.equal(polls.length, 4)
  }
})

t.test('stops while a poll runs, and plans no other', async t => {
  const timers = heldTimers(t)
  const { polls, ends, guard } = await follower({ held: true, boundMs: 1000 })
  const [timer] = timers.waiting(250)
  ;(timer as Timer).cleared = true
  timer?.run()
  await turn()
  await guard.stop()
  ends.shift()?.()
  await turn()
  t.equal(polls.length, 2)
  t.same(timers.waiting(250), [])
})

t.test('gives a poll up after the bound, and waits for none that has ended', async t => {
  const timers = heldTimers(t)
  const { polls, guard, ends, notify } = await follower({ held: true, boundMs: 5000 })
  t.teardown(() => guard.stop())
  notify()
  await turn()
  notify()
  await turn()
  t.equal(polls.length, 2)
  const [late] = timers.waiting(5000)
  late?.run()
  await turn()
  t.equal(polls.length, 3, 'the notification during the poll starts another')
  for (const end of ends.splice(0)) end()
  await turn()
  t.same(timers.waiting(5000), [])
})

t.test('relies on the feed for one second by default, and at the least bound', async t => {
  // A poll of a real timer would bring the feed up to date.
  heldTimers(t)
  for (const [options, boundMs] of [
    [{}, 1000],
    [{ boundMs: 100 }, 100],
  ] as const) {
    const { guard, monotonic, revoked, queries } = await follower({ ...options })
    t.teardown(() => guard.stop())
    monotonic.set(boundMs)
    t.equal(await revoked({}), false)
    t.equal(queries(), 0)
    monotonic.set(boundMs + 1)
    t.equal(await revoked({}), false)
    t.equal(queries(), 1)
  }
})

t.test('forgets an entry when the sessions that it ends have expired, and no other', async t => {
  const { entries, guard, monotonic, notify, clock, revoked } = await follower({ boundMs: 60_000 })
  t.teardown(() => guard.stop())
  const at = clock.now()
  entries.push(
    { kind: 'session', id: 'gone', at, lane: 0, position: 1 },
    { kind: 'key', id: 'key_1', version: 2, at, lane: 0, position: 2 },
    { kind: 'key', id: 'key_1', version: 3, at: at + 1, lane: 0, position: 3 },
    { kind: 'session', id: 'later', at, from: at + 1, lane: 0, position: 4 },
  )
  const refs = entries.map(entry => new WeakRef(entry))
  const poll = async (): Promise<boolean[]> => {
    monotonic.advance(60_000)
    notify()
    await turn()
    collectGarbage()
    return refs.map(ref => ref.deref() !== undefined)
  }
  notify()
  await turn()
  entries.length = 0
  await turn()
  clock.set(at + FEED_RETENTION_MS - 1)
  t.same(await poll(), [true, true, true, true])
  clock.set(at + FEED_RETENTION_MS)
  t.same(await poll(), [false, false, true, true])
  t.equal(await revoked({ keyVersion: 2 }), true)
  t.equal(await revoked({ sessionId: 'later', keyId: 'key_2' }), true)
  t.equal(await revoked({ sessionId: 'gone', keyId: 'key_2' }), false)
})
