// Several hosts rotate and drop signing keys through one store, their steps interleaved in every order, while verifiers
// cache the document for as long as its max-age.
import { Fault } from '@gatewright/kernel'
import { type ManualClock } from '@gatewright/kernel/testing'
import { createIssuer, type ApiKey, type Issuer, type SigningKeyStorage } from '@gatewright/session-issuer'
import { decodeProtectedHeader } from 'jose'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { memorySigningKeys, must, newKey, setUp } from '../fixtures.ts'

const MAX_AGE_MS = 300_000
const REFRESH_MS = 5000
const SKEW_MS = 5000
const DAY = 86_400_000

/** A clock ahead of another. */
const ahead = (clock: ManualClock, ms: number): { now(): number } => ({ now: () => clock.now() + ms })

interface Verifier {
  readonly clock: { now(): number }
  held?: { readonly kids: ReadonlySet<string>; readonly at: number }
}

interface Fleet {
  readonly hosts: readonly Issuer[]
  readonly verifiers: readonly Verifier[]
  readonly tokens: { readonly kid: string; readonly expiresAt: number }[]
  readonly key: ApiKey
  readonly clock: ManualClock
}

/** Three hosts over one store, with clocks up to `SKEW_MS` apart. */
async function fleet(storage: SigningKeyStorage): Promise<Fleet> {
  const { options, clock, issuer } = setUp({ signingKeys: storage })
  const hosts = [0, SKEW_MS / 2, SKEW_MS].map(ms =>
    createIssuer({ ...options, signingKeys: storage, clock: ahead(clock, ms) }),
  )
  const verifiers = [0, SKEW_MS].map(ms => ({ clock: ahead(clock, ms) }))
  const { key } = await newKey(issuer, [])
  return { hosts, verifiers, tokens: [], key, clock }
}

/**
 * A verifier that honours max-age reads the document from any host, and reads it again only when max-age has passed.
 */
async function mustKnow(
  verifier: Verifier,
  host: Issuer,
  kid: string | undefined,
  what: string,
): Promise<void> {
  const now = verifier.clock.now()
  if (!verifier.held || now >= verifier.held.at + MAX_AGE_MS) {
    const { keys } = await host.jwks()
    verifier.held = { kids: new Set(keys.map(key => key.kid as string)), at: now }
  }
  if (kid !== undefined) assert.ok(verifier.held.kids.has(kid), what)
}

/** How far the clock moves before an action: some time, or to just before an instant in the life of a key. */
type Wait = number | { readonly instant: 'activatesAt' | 'retiresAt' | 'dropsAt'; readonly before: number }

interface Action {
  readonly does: 'rotate' | 'mint' | 'read'
  readonly host: number
  /** Runs the action twice at once, the store calls in any order. */
  readonly other: number
  readonly wait: Wait
}

const host = fc.nat(2)

const anything: fc.Arbitrary<Action[]> = fc
  .record<Action>({
    does: fc.constantFrom('rotate', 'mint', 'mint', 'read'),
    host,
    other: host,
    wait: fc.constantFrom<Wait>(0, 1, REFRESH_MS - 1, 60_000, MAX_AGE_MS, DAY, {
      instant: 'activatesAt',
      before: 0,
    }),
  })
  .map(action => [action])

/**
 * The extremes: a document as stale and a signature as early as possible, then a signature as late and a drop as early
 * as possible.
 */
const edges: fc.Arbitrary<Action[]> = fc
  .record({
    reader: host,
    announcer: host,
    signer: host,
    late: host,
    readAfter: fc.constantFrom(0, 1, REFRESH_MS - 1, REFRESH_MS),
    signBefore: fc.constantFrom(0, 1, SKEW_MS),
    dropBefore: fc.constantFrom(0, 1, SKEW_MS),
  })
  .map(({ reader, announcer, signer, late, readAfter, signBefore, dropBefore }): Action[] => [
    { does: 'read', host: reader, other: reader, wait: 0 },
    { does: 'rotate', host: announcer, other: announcer, wait: 0 },
    { does: 'read', host: reader, other: reader, wait: readAfter },
    { does: 'mint', host: signer, other: late, wait: { instant: 'activatesAt', before: signBefore } },
    { does: 'mint', host: late, other: late, wait: { instant: 'retiresAt', before: 1 } },
    { does: 'read', host: reader, other: signer, wait: { instant: 'dropsAt', before: dropBefore } },
  ])

/** Moves the clock as an action says, and never back. */
async function pass(
  clock: ManualClock,
  store: SigningKeyStorage,
  { wait }: { wait: unknown },
): Promise<void> {
  if (typeof wait === 'number') return clock.advance(wait)
  const { instant, before } = wait as { instant: 'activatesAt' | 'dropsAt'; before: number }
  const { keys } = await store.load()
  const next = keys.map(key => (key[instant] ?? 0) - before).filter(at => at > clock.now())
  if (next.length > 0) clock.set(Math.min(...next))
}

const actions = fc.array(fc.oneof(anything, edges), { minLength: 3, maxLength: 8, size: 'max' })

t.test(
  'verifiers that honour max-age never see an unknown kid, and no token becomes invalid early',
  async t => {
    let minted = 0
    const kids = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), actions, async (s, all) => {
        const store = memorySigningKeys()
        const slow: SigningKeyStorage = {
          load: () => s.schedule(Promise.resolve(), 'load').then(() => store.load()),
          replace: (revision, keys) =>
            s.schedule(Promise.resolve(), 'replace').then(() => store.replace(revision, keys)),
        }
        const { hosts, verifiers, tokens, key, clock } = await fleet(slow)
        /** Two hosts act at once, their store calls in any order. */
        const act = async ({ host, does }: Pick<Action, 'host' | 'does'>): Promise<void> => {
          const issuer = hosts[host] as Issuer
          if (does === 'rotate') return void (await issuer.rotateSigningKey())
          // A verifier without a cached document reads it.
          if (does === 'read') {
            for (const verifier of verifiers) delete verifier.held
            for (const verifier of verifiers) await mustKnow(verifier, issuer, undefined, '')
            return
          }
          const { token, session } = must(await issuer.issueSession(key, { ttlSeconds: 86_400 }))
          const kid = decodeProtectedHeader(token).kid as string
          tokens.push({ kid, expiresAt: session.expiresAt })
          minted++
          kids.add(kid)
          for (const verifier of verifiers)
            await mustKnow(verifier, issuer, kid, 'an unknown kid was signed with')
        }
        for (const one of all.flat()) {
          await pass(clock, store, one)
          const both = Promise.all([act(one), act({ host: one.other, does: one.does })])
          await s.waitFor(both)
          for (const { kid, expiresAt } of tokens) {
            const live = verifiers.filter(verifier => verifier.clock.now() < expiresAt)
            const checks = live.map(each =>
              mustKnow(each, hosts[one.other] as Issuer, kid, 'a token died early'),
            )
            await s.waitFor(Promise.all(checks))
          }
        }
      }),
      { numRuns: randomCases(150) },
    )
    t.comment(`${minted} tokens under ${kids.size} keys`)
    t.ok(minted > 10 && kids.size > 6, 'enough was signed and rotated for the law to mean something')
  },
)

t.test(
  'of 3 hosts that start at once on an empty store one creates the key and all sign with it',
  async t => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async s => {
        const store = memorySigningKeys()
        const { hosts, key } = await fleet({
          load: () => s.schedule(Promise.resolve(), 'load').then(() => store.load()),
          replace: (revision, keys) =>
            s.schedule(Promise.resolve(), 'replace').then(() => store.replace(revision, keys)),
        })
        const minted = await s.waitFor(Promise.all(hosts.map(host => host.issueSession(key))))
        const kids = minted.map(verdict => decodeProtectedHeader(must(verdict).token).kid)
        assert.equal(new Set(kids).size, 1)
        assert.equal((await store.load()).keys.length, 1)
      }),
      { numRuns: randomCases(100) },
    )
    t.pass('one key')
  },
)

t.test('a key becomes announced, active, retired and dropped at its instants', async t => {
  const { issuer, clock } = setUp()
  const [first] = await issuer.listSigningKeys()
  const states = async () => (await issuer.listSigningKeys()).map(key => key.state)
  t.same(await states(), ['active'])
  t.equal(await issuer.rotateSigningKey(), true)
  t.equal(await issuer.rotateSigningKey(), false, 'one successor at a time')
  t.same(await states(), ['announced', 'active'])
  clock.advance(REFRESH_MS + MAX_AGE_MS + SKEW_MS - 1)
  t.same(await states(), ['announced', 'active'])
  clock.advance(1)
  t.same(await states(), ['active', 'retired'])
  clock.advance(DAY + REFRESH_MS + 2 * SKEW_MS - 1)
  t.equal((await issuer.jwks()).keys.length, 2)
  clock.advance(1)
  t.same(await states(), ['active', 'dropped'])
  t.equal((await issuer.jwks()).keys.length, 1)
  t.equal(await issuer.verificationKey(first!.kid), undefined)
})

t.test('maintain rotates a key at its age, and not before', async t => {
  const { issuer, clock } = setUp({ signingKeyDays: 30 })
  await issuer.jwks()
  clock.advance(30 * DAY - SKEW_MS - 1)
  t.equal((await issuer.maintain()).rotatedSigningKey, false)
  clock.advance(1)
  t.equal((await issuer.maintain()).rotatedSigningKey, true)
  t.equal((await issuer.maintain()).rotatedSigningKey, false)
})

t.test('a leaked key is dropped at once, and the announced key or else a new one signs', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  const signedBy = async () => decodeProtectedHeader(must(await issuer.issueSession(key)).token).kid as string
  const leaked = await signedBy()
  t.equal(await issuer.dropSigningKey(leaked), true)
  const fresh = await signedBy()
  t.not(fresh, leaked)
  t.equal(await issuer.verificationKey(leaked), undefined)
  await issuer.rotateSigningKey()
  const announced = (await issuer.listSigningKeys()).find(one => one.state === 'announced')!
  await issuer.dropSigningKey(fresh)
  t.equal(await signedBy(), announced.kid)
  t.equal(await issuer.dropSigningKey(leaked), false, 'it is gone already')
})

t.test('dropping the announced key lets the key before it continue to sign', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, [])
  await issuer.jwks()
  await issuer.rotateSigningKey()
  const [announced, active] = await issuer.listSigningKeys()
  await issuer.dropSigningKey(announced!.kid)
  clock.advance(9 * DAY)
  t.equal(decodeProtectedHeader(must(await issuer.issueSession(key)).token).kid, active!.kid)
})

t.test('another host applies a drop within the refresh interval', async t => {
  const { issuer, options, clock } = setUp()
  const other = createIssuer(options)
  const [leaked] = (await other.jwks()).keys
  await issuer.dropSigningKey(leaked!.kid!)
  clock.advance(REFRESH_MS)
  t.notOk((await other.jwks()).keys.some(key => key.kid === leaked!.kid))
})

t.test('an unknown kid makes a host read the store before the refresh, at most once a second', async t => {
  const { options, clock } = setUp()
  let loads = 0
  const counted = { ...options.signingKeys, load: () => (loads++, options.signingKeys.load()) }
  const guardSide = createIssuer({ ...options, signingKeys: counted })
  const [old] = (await guardSide.jwks()).keys
  const issuer = createIssuer(options)
  await issuer.dropSigningKey(old!.kid!)
  const [fresh] = (await issuer.jwks()).keys
  clock.advance(1000)
  t.equal((await guardSide.verificationKey(fresh!.kid!))?.kid, fresh!.kid)
  loads = 0
  for (let n = 0; n < 50; n++) t.equal(await guardSide.verificationKey(`stranger-${n}`), undefined)
  t.equal(loads, 0)
})

t.test(
  'throws a fault, and publishes no stale document, when the store is down and the set is older than its refresh',
  async t => {
    const { options, clock } = setUp()
    let down = false
    const fault = new Fault('ERR_STORE_UNAVAILABLE', 'down')
    const load = async () => {
      if (down) throw fault
      return options.signingKeys.load()
    }
    const issuer = createIssuer({ ...options, signingKeys: { ...options.signingKeys, load } })
    await issuer.jwks()
    down = true
    clock.advance(REFRESH_MS - 1)
    t.equal((await issuer.jwks()).keys.length, 1)
    clock.advance(1)
    await t.rejects(issuer.jwks(), { code: 'ERR_STORE_UNAVAILABLE' })
    clock.advance(-REFRESH_MS - 1)
    await t.rejects(issuer.jwks(), { code: 'ERR_STORE_UNAVAILABLE' }, 'a clock set back proves no freshness')
  },
)

t.test('the JWKS document contains public members only, with its cache header', async t => {
  for (const algorithm of ['EdDSA', 'ES256'] as const) {
    const { issuer } = setUp({ algorithm })
    const { keys, headers, maxAgeSeconds } = await issuer.jwks()
    t.notOk(keys.some(key => 'd' in key))
    t.match(keys, [{ alg: algorithm, use: 'sig', kid: /^[\w-]{43}$/ }])
    t.equal(maxAgeSeconds, 300)
    t.same(headers, [
      ['content-type', 'application/jwk-set+json'],
      ['cache-control', 'public, max-age=300'],
    ])
  }
})
