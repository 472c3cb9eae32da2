// Whatever is minted, created, changed, rotated and revoked, by any caller in any order: no key or session ever has
// more rights than those above it, and no denied call gives rights.
import type { Session } from '@gatewright/kernel'
import type { ApiKey, KeyRecord } from '@gatewright/session-issuer'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { DAY, newKey, setUp, USER, type SetUp } from '../fixtures.ts'

const SCOPES = ['a.read', 'b.read', 'c.read', 'd.read']

/** The verbs of a run, with their frequencies. */
const VERBS =
  'mint mint mint mint create create create change change change rotate rotate revoke end wait'.split(' ')

const step = fc.record({
  does: fc.constantFrom(...VERBS),
  by: fc.nat(),
  on: fc.nat(),
  scopes: fc.option(fc.subarray(SCOPES), { nil: undefined }),
  policy: fc.boolean(),
  seconds: fc.constantFrom(0, 60, 900, 7200),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface World extends SetUp {
  /** Texts of all keys ever made. */
  readonly texts: string[]
  readonly keyIds: string[]
  readonly sessions: { readonly session: Session; readonly from: ApiKey | Session }[]
  /** How often each verb succeeded. */
  readonly granted: Map<string, number>
}

type Rights = Pick<ApiKey, 'scopes' | 'policyIds'> & { readonly expiresAt: number | null }

/** Whether `inner` allows nothing that `outer` does not: scopes, policies and, where given, the end. */
function within(inner: Rights, outer: Rights, ends = true): boolean {
  const scopes = inner.scopes.every(scope => outer.scopes.includes(scope))
  const policies = outer.policyIds.every(id => inner.policyIds.includes(id))
  return scopes && policies && (!ends || (inner.expiresAt ?? Infinity) <= (outer.expiresAt ?? Infinity))
}

async function allKeys({ options }: SetUp): Promise<readonly KeyRecord[]> {
  return (await options.keys.load(USER.accountId)).keys
}

async function caller(world: World, index: number): Promise<ApiKey | Session | undefined> {
  const asSession = index % 2 === 1 && world.sessions.length > 0
  if (asSession) return world.sessions[(index >>> 1) % world.sessions.length]?.session
  const text = world.texts[(index >>> 1) % world.texts.length]
  const verdict = await world.issuer.authenticateKey(text, 'user')
  return verdict.ok ? verdict.value : undefined
}

async function run(world: World, { does, by, on, scopes, policy, seconds }: Step): Promise<void> {
  const { issuer, clock } = world
  if (does === 'wait') return clock.advance(seconds * 1000)
  const who = await caller(world, by)
  if (!who) return
  // A guard denies ended sessions, so only live callers reach the issuer.
  if ('sessionId' in who && !((await issuer.isCurrent(who)) && clock.now() < who.expiresAt)) return
  const granted = (verb: string): void => {
    world.granted.set(verb, (world.granted.get(verb) ?? 0) + 1)
  }
  const keyId = world.keyIds[on % world.keyIds.length] as string
  const document = policy ? { policy: { maxAuthAmountCents: on } } : {}
  if (does === 'mint') {
    const request = { ...(scopes ? { scopes } : {}), ...document, ttlSeconds: Math.max(60, seconds) }
    const verdict = await issuer.issueSession(who, request)
    if (!verdict.ok) return
    world.sessions.push({ session: verdict.value.session, from: who })
    return granted('sessionId' in who ? 're-mint' : 'mint')
  }
  if (does === 'create' || does === 'rotate') {
    const verdict =
      does === 'create'
        ? await issuer.createKey({ ...USER, parent: who, scopes: scopes ?? who.scopes, ...document })
        : await issuer.rotateKey(who, keyId, { overlapSeconds: seconds })
    if (!verdict.ok) return
    assert.ok(within(verdict.value.key, who, false), `a ${does}d key holds no more than its maker`)
    world.texts.push(verdict.value.text)
    world.keyIds.push(verdict.value.key.id)
    return granted(does)
  }
  if (does === 'revoke') {
    if ((await issuer.revokeKey(who, keyId)).ok) granted(does)
    return
  }
  if (does === 'end') {
    const session = world.sessions[on % Math.max(1, world.sessions.length)]?.session
    if (session) await issuer.endSession(who, session.sessionId)
    return
  }
  const before = (await allKeys(world)).find(key => key.id === keyId) as KeyRecord
  const verdict = await issuer.changeKey(who, keyId, { ...(scopes ? { scopes } : {}), ...document })
  if (!verdict.ok) return
  const after = { ...verdict.value, expiresAt: before.expiresAt }
  if (verdict.value.version > before.version) granted(does)
  assert.ok(within(after, before) || within(after, who, false), 'a change loosens no further than the caller')
}

/** Checks every live key against every live key above it, and every live session against its key and what minted it. */
async function check(world: World): Promise<void> {
  const { issuer, clock } = world
  const now = clock.now()
  const live = (await allKeys(world)).filter(
    key => key.revokedAt === null && now < (key.expiresAt ?? Infinity),
  )
  for (const key of live) {
    for (const lineage of key.ancestry) {
      const above = live.filter(other => other.lineageId === lineage)
      if (above.length === 0) assert.fail('a key outlived what is above it')
      for (const other of above) {
        // The old key of a rotation ends early by design; its successor keeps the end.
        if (!within(key, other, other.successorId === null)) assert.fail('a key holds more than one above it')
      }
    }
  }
  for (const { session, from } of world.sessions) {
    if (now >= session.expiresAt || !(await issuer.isCurrent(session))) continue
    const key = live.find(one => one.id === session.keyId)
    if (!key) assert.fail('a session outlived its key')
    else if (!within(session, key, key.successorId === null)) assert.fail('a session holds more than its key')
    if (!within(session, from)) assert.fail('a session holds more than what it was minted from')
    if ('sessionId' in from && !(await issuer.isCurrent(from))) assert.fail('a session outlived its parent')
    for (const lineage of key?.ancestry ?? []) {
      for (const above of live.filter(one => one.lineageId === lineage)) {
        if (!within(session, above, above.successorId === null))
          assert.fail('a session holds more than a key above')
      }
    }
  }
}

t.test('rights only narrow, through any sequence of calls', async t => {
  const granted = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async all => {
      const world: World = { ...setUp(), texts: [], keyIds: [], sessions: [], granted }
      for (const scopes of [SCOPES, SCOPES.slice(1)]) {
        const expiresAt = world.clock.now() + 5 * DAY
        const made = await newKey(world.issuer, scopes, { policy: { root: true }, expiresAt })
        world.texts.push(made.text)
        world.keyIds.push(made.key.id)
      }
      for (const one of all) {
        await run(world, one)
        await check(world)
      }
    }),
    { numRuns: randomCases(300) },
  )
  t.comment(`granted: ${[...granted].map(([verb, times]) => `${verb} ${times}`).join(', ')}`)
  for (const verb of ['mint', 're-mint', 'create', 'change', 'rotate', 'revoke']) {
    t.ok(
      (granted.get(verb) ?? 0) >= randomCases(30),
      `${verb} was granted often enough for the law to mean something`,
    )
  }
})
