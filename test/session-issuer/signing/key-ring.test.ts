import { createIssuer, type Issuer, type SigningKeyStorage } from '@gatewright/session-issuer'
import type { SigningKey } from '#packages/session-issuer/dist/storage/signing-port.js'
import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { DAY, memorySigningKeys, must, newKey, setUp, type SetUp } from '../fixtures.ts'

const SKEW_MS = 5000
const ANNOUNCE_MS = 310_000

/** The id of the key that signs now. */
async function signing(issuer: Issuer): Promise<string | undefined> {
  return decodeProtectedHeader(must(await issuer.issueSession((await newKey(issuer, [])).key)).token).kid
}

/** Some new signing keys, none of them in the store. */
async function newSigningKeys(count: number): Promise<SigningKey[]> {
  const keys: SigningKey[] = []
  for (let n = 0; n < count; n++) {
    const { options, issuer } = setUp()
    await issuer.jwks()
    keys.push(...(await options.signingKeys.load()).keys)
  }
  return keys
}

/** An issuer over a store that holds these keys. */
async function setUpWith(keys: readonly SigningKey[]): Promise<SetUp> {
  const store = memorySigningKeys()
  await store.replace(0, keys)
  return setUp({ signingKeys: store })
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('no generated key has an id that a command would read as an option', async t => {
  const keys = await newSigningKeys(300)
  t.same(
    keys.filter(({ kid }) => kid.startsWith('-')),
    [],
  )
})

t.test('the first key is active for a host whose clock is behind by the skew', async t => {
  const { issuer, clock } = setUp()
  t.match(await issuer.listSigningKeys(), [{ activatesAt: clock.now() - SKEW_MS, state: 'active' }])
})

t.test('of two active keys the later signs, from the instant at which it becomes active', async t => {
  const now = setUp().clock.now()
  const [one, other] = (await newSigningKeys(2)) as [SigningKey, SigningKey]
  const later = { ...other, activatesAt: now + 1 }
  for (const keys of [
    [one, later],
    [later, one],
  ]) {
    const { issuer, clock } = await setUpWith(keys)
    t.equal(await signing(issuer), one.kid)
    clock.advance(1)
    t.equal(await signing(issuer), later.kid)
  }
})

t.test('while no key is active, that which becomes active next signs', async t => {
  const now = setUp().clock.now()
  const all = (await newSigningKeys(2)).map((key, index) => ({ ...key, activatesAt: now + 1000 + index }))
  for (const keys of [all, all.toReversed()]) {
    const { issuer } = await setUpWith(keys)
    t.equal(await signing(issuer), all[0]?.kid)
  }
})

t.test('a key signs no more from the instant at which it retires, also without a successor', async t => {
  const now = setUp().clock.now()
  const [key] = (await newSigningKeys(1)) as [SigningKey]
  for (const [retiresAt, signs] of [
    [now + 1, true],
    [now, false],
  ] as const) {
    const { issuer } = await setUpWith([{ ...key, retiresAt, dropsAt: now + 10 }])
    t.equal((await signing(issuer)) === key.kid, signs)
  }
})

t.test('dropping the active key makes the announced one active, and a retired one stays', async t => {
  const { issuer, clock } = setUp()
  await issuer.jwks()
  await issuer.rotateSigningKey()
  clock.advance(ANNOUNCE_MS)
  await issuer.rotateSigningKey()
  const [announced, active, retired] = await issuer.listSigningKeys()
  t.equal(await issuer.dropSigningKey(active?.kid as string), true)
  t.match(await issuer.listSigningKeys(), [
    { kid: announced?.kid, state: 'active', activatesAt: clock.now() - SKEW_MS },
    { kid: retired?.kid, state: 'retired' },
  ])
})

t.test('dropping a retired key leaves the times of the active one', async t => {
  const { issuer, clock } = setUp()
  await issuer.jwks()
  await issuer.rotateSigningKey()
  clock.advance(ANNOUNCE_MS + DAY / 2)
  const [active, retired] = await issuer.listSigningKeys()
  t.equal(await issuer.dropSigningKey(retired?.kid as string), true)
  t.same(await issuer.listSigningKeys(), [active])
})

t.test('throws ERR_OVERLOADED after 20 changes for which another host committed first', async t => {
  let tries = 0
  const signingKeys: SigningKeyStorage = {
    ...memorySigningKeys(),
    replace: async () => {
      tries++
      return false
    },
  }
  const { issuer } = setUp({ signingKeys })
  await t.rejects(issuer.jwks(), { name: 'Fault', code: 'ERR_OVERLOADED' })
  t.equal(tries, 20)
})

t.test('rotates no keys that come from configuration', async t => {
  const { options } = setUp()
  const issuer = createIssuer({ ...options, signingKeys: { ...options.signingKeys, fixed: true } })
  await issuer.jwks()
  t.equal(await issuer.rotateSigningKey(), false)
  t.match(await issuer.listSigningKeys(), [{ state: 'active' }])
})

t.test('applies a drop before it resolves, also where an older load is still running', async t => {
  const store = memorySigningKeys()
  let release: (() => void) | undefined
  let holdsNext = false
  const signingKeys: SigningKeyStorage = {
    ...store,
    async load() {
      const set = await store.load()
      if (holdsNext) {
        holdsNext = false
        await new Promise<void>(resolve => (release = resolve))
      } else await turn()
      return set
    },
  }
  const { issuer, clock } = setUp({ signingKeys })
  const [leaked] = (await issuer.jwks()).keys
  const kid = leaked?.kid as string
  clock.advance(SKEW_MS)
  holdsNext = true
  const reading = issuer.jwks()
  const dropping = issuer.dropSigningKey(kid)
  while ((await store.load()).revision < 2) await turn()
  release?.()
  t.equal(await dropping, true)
  await reading
  t.equal(await issuer.verificationKey(kid), undefined)
  const before = await signing(issuer)
  t.equal(await issuer.rotateSigningKey(), true)
  t.equal((await issuer.jwks()).keys.length, 2, 'a rotation too')
  t.equal(await signing(issuer), before)
})

t.test('signs again once a key that could not be imported is corrected in the store', async t => {
  const [key] = (await newSigningKeys(1)) as [SigningKey]
  let stored: SigningKey = { ...key, privateJwk: { ...key.privateJwk, d: '!' } }
  const signingKeys: SigningKeyStorage = {
    load: async () => ({ revision: 1, keys: [stored] }),
    replace: async () => false,
  }
  const { issuer, clock } = setUp({ signingKeys })
  const caller = (await newKey(issuer, [])).key
  await t.rejects(issuer.issueSession(caller), { name: 'Fault' })
  stored = key
  clock.advance(SKEW_MS)
  t.equal(await signing(issuer), key.kid)
})

t.test('publishes all public members of a key and no other', async t => {
  for (const [algorithm, names] of [
    ['EdDSA', ['alg', 'crv', 'kid', 'kty', 'use', 'x']],
    ['ES256', ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
  ] as const) {
    const [key] = (await setUp({ algorithm }).issuer.jwks()).keys
    t.same(Object.keys(key as object).sort(), names)
  }
})
