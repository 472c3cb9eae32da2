import { memoryFeed, type MemoryFeed } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import { createGuard, type RevocationFeed, type GuardOptions } from '@gatewright/scope-guard'
import { memoryRevocationFeed } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: [] }
const revoked = { ok: false, code: 'unauthorized', status: 401, reason: 'revoked' }

/** A guard in feed mode that polls only when the test says so, over a feed that can fail. */
async function following(options: { failing?: () => boolean; isLive?: () => Promise<boolean> } = {}) {
  const feed: MemoryFeed = memoryFeed()
  const monotonic = manualClock(0)
  let asked = 0
  const wake: (() => void)[] = []
  const reader: RevocationFeed = {
    after: async (positions, limit) => {
      if (options.failing?.()) throw new Error('down')
      return feed.after(positions, limit)
    },
    subscribe: async listener => {
      wake.push(listener)
      return async () => undefined
    },
  }
  const isLive = async (): Promise<boolean> => {
    asked++
    return options.isLive ? options.isLive() : true
  }
  const revocation = {
    mode: 'feed',
    feed: reader,
    isLive,
    boundMs: 60_000,
    monotonic,
  } as const
  const made = await bench({ revocation })
  t.teardown(() => made.guard.stop())
  return {
    ...made,
    feed,
    monotonic,
    asked: () => asked,
    /** Pushes, and waits until the poll that follows is over. */
    push: async () => {
      for (const listener of wake) listener()
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

t.test('a new guard has read every revocation when start() resolves', async t => {
  const { guard, bearer, feed, clock } = await following()
  const entries = Array.from(
    { length: 2500 },
    (_, n) => ({ kind: 'session', id: `s${n}`, at: clock.now() }) as const,
  )
  feed.append(entries)
  await guard.start()
  t.match(await guard.check({ authorization: await bearer({ sessionId: 's2499' }) }, rule), revoked)
  t.match(await guard.check({ authorization: await bearer({ sessionId: 's2500' }) }, rule), { ok: true })
})

t.test('start() rejects if the feed cannot be read', async t => {
  const { guard } = await following({ failing: () => true })
  await t.rejects(guard.start())
})

t.test(
  'ends a revoked session when the feed notifies, also if its token is cached, without querying the store',
  async t => {
    const { guard, bearer, feed, push, clock, asked } = await following()
    await guard.start()
    const authorization = await bearer()
    t.match(await guard.check({ authorization }, rule), { ok: true })
    feed.append([{ kind: 'session', id: 'ses_1', at: clock.now() }])
    await push()
    t.match(await guard.check({ authorization }, rule), revoked)
    t.match(await guard.check({ authorization: await bearer({ sessionId: 'ses_2' }) }, rule), { ok: true })
    t.equal(asked(), 0)
  },
)

t.test('ends the sessions of older key versions and keeps those of newer versions', async t => {
  const { guard, bearer, feed, push, clock } = await following()
  await guard.start()
  feed.append([{ kind: 'key', id: 'key_1', version: 3, at: clock.now() }])
  await push()
  const at = async (keyVersion: number) => guard.check({ authorization: await bearer({ keyVersion }) }, rule)
  t.match(await at(2), revoked)
  t.match(await at(3), { ok: true })
  t.match(await at(4), { ok: true })
  feed.append([{ kind: 'key', id: 'key_1', at: clock.now() }])
  await push()
  t.match(await at(4), revoked)
})

t.test('applies an entry with `from` exactly from that instant on', async t => {
  const { guard, bearer, feed, push, clock } = await following()
  await guard.start()
  const authorization = await bearer()
  feed.append([{ kind: 'key', id: 'key_1', version: 2, at: clock.now(), from: clock.now() + 5000 }])
  await push()
  clock.advance(4999)
  t.match(await guard.check({ authorization }, rule), { ok: true })
  clock.advance(1)
  t.match(await guard.check({ authorization }, rule), revoked)
})

t.test('relies on the feed until the end of the bound and queries the store afterwards', async t => {
  let live = true
  const { guard, bearer, monotonic, asked } = await following({ isLive: async () => live })
  await guard.start()
  const authorization = await bearer()
  monotonic.set(60_000)
  t.match(await guard.check({ authorization }, rule), { ok: true })
  t.equal(asked(), 0)
  monotonic.set(60_001)
  t.match(await guard.check({ authorization }, rule), { ok: true })
  t.equal(asked(), 1)
  live = false
  t.match(await guard.check({ authorization }, rule), revoked)
})

t.test('counts the bound from the start of a poll, not from its end', async t => {
  let slow = (): void => {}
  const made = await following({
    failing: () => {
      slow()
      return false
    },
  })
  const { guard, bearer, monotonic, push, asked } = made
  await guard.start()
  const authorization = await bearer()
  monotonic.set(30_000)
  // This poll starts at 30 s and ends at 89 s: an entry appended meanwhile may not be in its reply.
  slow = () => monotonic.set(89_000)
  await push()
  monotonic.set(90_000)
  await guard.check({ authorization }, rule)
  t.equal(asked(), 0)
  monotonic.set(90_001)
  await guard.check({ authorization }, rule)
  t.equal(asked(), 1)
})

t.test('queries the store while the feed fails, and keeps the revocations that are known', async t => {
  let down = false
  const { guard, bearer, feed, monotonic, push, clock, asked } = await following({ failing: () => down })
  feed.append([{ kind: 'session', id: 'ses_9', at: clock.now() }])
  await guard.start()
  down = true
  monotonic.set(60_001)
  await push()
  t.match(await guard.check({ authorization: await bearer({ sessionId: 'ses_9' }) }, rule), revoked)
  t.equal(asked(), 0)
  t.match(await guard.check({ authorization: await bearer() }, rule), { ok: true })
  t.equal(asked(), 1)
  down = false
  await push()
  await guard.check({ authorization: await bearer() }, rule)
  t.equal(asked(), 1, 'the next good poll ends the fallback')
})

t.test('queries the store while a guard in feed mode has not started', async t => {
  const { guard, bearer, asked } = await following()
  t.match(await guard.check({ authorization: await bearer() }, rule), { ok: true })
  t.equal(asked(), 1)
})

t.test(
  'throws a fault when the store must be queried and is unavailable, and accepts no session',
  async t => {
    const responses = [async () => Promise.reject(new Error('down')), async () => 'yes' as unknown as boolean]
    for (const isLive of responses) {
      const modes: GuardOptions['revocation'][] = [
        { mode: 'strict', isLive },
        { mode: 'feed', feed: memoryRevocationFeed(memoryFeed()), isLive },
      ]
      for (const revocation of modes) {
        const { guard, bearer } = await bench(revocation ? { revocation } : {})
        const authorization = await bearer()
        await t.rejects(async () => guard.check({ authorization }, rule), { name: 'Fault' })
      }
    }
  },
)

t.test('strict mode queries the store every time and sees a revocation immediately', async t => {
  const gone = new Set<string>()
  const isLive = async ({ sessionId }: { sessionId: string }): Promise<boolean> => !gone.has(sessionId)
  const { guard, bearer } = await bench({ revocation: { mode: 'strict', isLive } })
  const authorization = await bearer()
  t.match(await guard.check({ authorization }, rule), { ok: true })
  gone.add('ses_1')
  t.match(await guard.check({ authorization }, rule), revoked)
})

t.test('removes an entry only when its sessions have all expired', async t => {
  const { guard, bearer, feed, push, clock, monotonic } = await following()
  await guard.start()
  feed.append([{ kind: 'key', id: 'key_1', version: 2, at: clock.now() }])
  await push()
  clock.advance(86_400_000)
  monotonic.advance(86_400_000)
  await push()
  const last = await bearer({ issuedAt: clock.now() - 86_400_000, expiresAt: clock.now() + 1000 })
  t.match(await guard.check({ authorization: last }, rule), revoked)
})

t.test('rejects wrong revocation options at construction', async t => {
  const feed = memoryRevocationFeed(memoryFeed())
  const isLive = async () => true
  for (const wrong of [{ boundMs: 99 }, { boundMs: 60_001 }, { pollMs: 5 }]) {
    await t.rejects(bench({ revocation: { mode: 'feed', feed, isLive, ...wrong } }), TypeError)
  }
  await t.rejects(bench({ revocation: { mode: 'strict' } as never }), TypeError)
})

t.test('rejects an unknown mode, and options of another mode', async t => {
  const isLive = async (): Promise<boolean> => true
  const throwsFor = (revocation: unknown, message: string): void => {
    const options = { issuer: 'i', audience: 'a', keys: () => undefined, revocation: revocation as never }
    t.throws(() => createGuard(options), { name: 'TypeError', message })
  }
  throwsFor(
    { mode: 'sctrict', isLive },
    'createGuard revocation: mode must be "off", "strict" or "feed", not "sctrict"',
  )
  throwsFor({ mode: 'sctrict', bound: 500 }, 'createGuard revocation: unknown option "bound"')
  throwsFor({ isLive }, 'createGuard revocation: mode must be "off", "strict" or "feed", not undefined')
  throwsFor(
    { mode: 'off', isLive },
    'createGuard revocation (off): unknown option "isLive". Known options: mode',
  )
  throwsFor(
    { mode: 'strict', isLive, boundMs: 500 },
    'createGuard revocation (strict): unknown option "boundMs". Known options: mode, isLive',
  )
})

t.test('without revocation a session is valid until it expires', async t => {
  for (const options of [{}, { revocation: { mode: 'off' } } as const]) {
    const { guard, bearer } = await bench(options)
    await guard.start()
    t.match(await guard.check({ authorization: await bearer() }, rule), { ok: true })
    await guard.stop()
  }
})
