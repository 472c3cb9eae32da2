import { localKeys, type GuardOptions } from '@gatewright/scope-guard'
import t from 'tap'
import { collectGarbage } from '../../harness/collect-garbage.ts'
import { sampleOf } from '../../harness/random-cases.ts'
import { bench, claims, session, sign, signingKey } from '../issuer.ts'

/** A guard that counts how often it had to verify, by how often it asked for the key. */
async function counting(options: Partial<GuardOptions>) {
  const key = await signingKey()
  const source = localKeys({ keys: [key.jwk] })
  let verified = 0
  const made = await bench({
    keys: async kid => {
      verified++
      return source(kid)
    },
    ...options,
  })
  const tokenOf = (n: number, pad = ''): Promise<string> =>
    sign(key, { ...claims(session(made.clock.now(), { sessionId: `s${n}` })), pad })
  const check = async (authorization: string): Promise<boolean> =>
    (await made.guard.check({ authorization }, { operation: 'a.b', allOf: [] })).ok
  const send = async (n: number, pad = ''): Promise<boolean> => check(`Bearer ${await tokenOf(n, pad)}`)
  return { send, check, tokenOf, clock: made.clock, verified: () => verified }
}

t.test('verifies a token once while it is cached', async t => {
  const { send, verified } = await counting({})
  for (let n = 0; n < 5; n++) t.equal(await send(1), true)
  t.equal(verified(), 1)
})

t.test('verifies a token once however its scheme is spelled', async t => {
  const { check, tokenOf, verified } = await counting({})
  const token = await tokenOf(1)
  for (let n = 0; n < 3; n++) {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
      t.equal(await check(`${scheme} ${token}`), true)
  }
  t.equal(verified(), 1)
})

t.test('caches at most cacheBytes of tokens, and evicts the least recently used', async t => {
  const { send, verified } = await counting({ cacheBytes: 65_536, maxTokenBytes: 16_384 })
  const pad = 'x'.repeat(8000)
  // Each weighs more than 11 KiB, so that 5 fit and 6 do not.
  for (let n = 0; n < 5; n++) await send(n, pad)
  for (let n = 0; n < 5; n++) await send(n, pad)
  t.equal(verified(), 5)
  await send(0, pad)
  await send(5, pad)
  t.equal(verified(), 6)
  await send(0, pad)
  t.equal(verified(), 6, 'used again before the sixth came')
  await send(1, pad)
  t.equal(verified(), 7, 'the least recently used one was evicted')
})

t.test('evicts the least recently used token when its bytes are used up', async t => {
  const { send, verified } = await counting({ cacheBytes: 65_536, maxTokenBytes: 16_384 })
  const pad = 'x'.repeat(8000)
  for (const n of [0, 1, 2, 3, 4, 0, 5]) await send(n, pad)
  t.equal(verified(), 6)
  await send(0, pad)
  t.equal(verified(), 6)
  await send(1, pad)
  t.equal(verified(), 7)
})

t.test('weighs the scopes of a session with its token', async t => {
  const key = await signingKey()
  const source = localKeys({ keys: [key.jwk] })
  let verified = 0
  const { guard, clock } = await bench({
    keys: async kid => {
      verified++
      return source(kid)
    },
    cacheBytes: 65_536,
  })
  const scopes = Array.from({ length: 300 }, (_, index) => `s${index}.r`)
  const tokens = await Promise.all(
    ['a', 'b'].map(sessionId => sign(key, claims(session(clock.now(), { sessionId, scopes })))),
  )
  // Each has about 3 KB of text and weighs more than 32 KiB, so the second evicts the first.
  for (const token of [...tokens, ...tokens]) {
    t.ok(token.length < 4096)
    t.match(await guard.authenticate({ authorization: `Bearer ${token}` }), { ok: true })
  }
  t.equal(verified, 4)
})

t.test(
  'distinguishes tokens by their whole text: one that differs in one letter is verified and denied',
  async t => {
    const key = await signingKey()
    const { guard, clock } = await bench({ keys: localKeys({ keys: [key.jwk] }), failedCredentials: 'off' })
    const good = `Bearer ${await sign(key, claims(session(clock.now())))}`
    const asks = async (authorization: string): Promise<boolean> =>
      (await guard.check({ authorization }, { operation: 'a.b', allOf: [] })).ok
    t.equal(await asks(good), true)
    const places = Array.from(good, (_, at) => at).slice('Bearer '.length)
    for (const at of sampleOf(places)) {
      const [before, letter, after] = [good.slice(0, at), good[at], good.slice(at + 1)]
      // The second has the same low byte as the right one.
      const others = [letter === 'A' ? 'B' : 'A', String.fromCharCode((letter as string).charCodeAt(0) + 256)]
      for (const text of [...others.map(other => before + other + after), before + after]) {
        if (await asks(text)) t.fail(`accepted at ${at}`)
      }
    }
    t.equal(await asks(good + good.slice(-12)), false)
    t.equal(await asks(`Bearer ${good.slice(-12)}`), false)
    t.equal(await asks(good), true)
  },
)

/** Bytes of the heap that are in use. What other tests of the process held is freed some turns after a collection. */
async function heapHeld(): Promise<number> {
  let before = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 20; tries++) {
    collectGarbage()
    await new Promise(setImmediate)
    const { heapUsed } = process.memoryUsage()
    if (Math.abs(heapUsed - before) < 10_000) return heapUsed
    before = heapUsed
  }
  return before
}

t.test('evicts tokens after twice cacheSeconds, when new tokens are cached', async t => {
  const key = await signingKey()
  const { guard, clock } = await bench({
    keys: localKeys({ keys: [key.jwk] }),
    cacheSeconds: 60,
    maxTokenBytes: 16_384,
  })
  const send = async (sessionId: string, scopes: readonly string[]): Promise<void> => {
    const token = await sign(key, claims(session(clock.now(), { sessionId, scopes })))
    t.match(await guard.authenticate({ authorization: `Bearer ${token}` }), { ok: true })
  }
  const sendAll = async (name: string, count: number, scopes: readonly string[]): Promise<void> => {
    for (let n = 0; n < count; n++) await send(`${name}${n}`, scopes)
  }
  await sendAll('first', 1, [])
  const before = await heapHeld()
  const many = Array.from({ length: 400 }, (_, index) => `s${index}.r`)
  await sendAll('large', 200, many)
  t.ok((await heapHeld()) - before > 3_000_000)
  clock.advance(119_999)
  await sendAll('early', 100, [])
  t.ok((await heapHeld()) - before > 3_000_000, 'known as verified before')
  clock.advance(1)
  await sendAll('late', 140, [])
  // What waits to be written to a busy runner is on the heap too.
  t.ok((await heapHeld()) - before < 1_500_000)
})
