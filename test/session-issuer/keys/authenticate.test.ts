import { Fault } from '@gatewright/kernel'
import { createIssuer, type KeyStorage, type IssuerOptions } from '@gatewright/session-issuer'
import t from 'tap'
import { DAY, must, newKey, PEPPER, setUp, USER } from '../fixtures.ts'

/** Key storage that counts its calls and can be made to fail. */
function watched(keys: KeyStorage) {
  const seen = { calls: [] as string[], down: false }
  const storage = new Proxy(keys, {
    get(target, name) {
      const verb = Reflect.get(target, name) as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        seen.calls.push(String(name))
        if (seen.down) return Promise.reject(new Fault('ERR_STORE_UNAVAILABLE', 'down'))
        return verb.apply(target, args)
      }
    },
  })
  return { seen, storage }
}

function watchedSetUp(changes: Partial<IssuerOptions> = {}) {
  const { options, clock } = setUp()
  const { seen, storage } = watched(options.keys)
  return { issuer: createIssuer({ ...options, ...changes, keys: storage }), seen, clock, options }
}

/** Trusts a key that was read within the last second. */
const CACHED = { cacheMs: 1000 }

t.test('denies malformed texts of every kind without a storage call', async t => {
  const { issuer, seen } = watchedSetUp()
  const { text } = await newKey(issuer, [])
  seen.calls.length = 0
  const flipped = text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
  const junk = [
    '',
    ' ',
    'x',
    text.slice(0, -1),
    `${text}0`,
    ` ${text}`,
    `${text}\n`,
    flipped,
    text.toLowerCase(),
    text.replace('sandbox', 'live'),
    text.replace('_user_', '_partner_'),
    text.replace('gw_', 'gx_'),
    text.replace(/.(?=.{6}$)/, 'é'),
    'x'.repeat(1_000_000),
    text.replaceAll('_', '-'),
    undefined,
    null,
    7,
    true,
    {},
    [text],
    Buffer.from(text),
    Symbol('key'),
  ]
  for (const value of junk) {
    t.match(await issuer.authenticateKey(value, 'user'), {
      code: 'unauthorized',
      status: 401,
      message: 'the API key is not valid',
    })
  }
  t.same(seen.calls, [])
})

t.test('denies a key with one changed character by its checksum, without a storage call', async t => {
  const { issuer, seen } = watchedSetUp()
  const { text } = await newKey(issuer, [])
  seen.calls.length = 0
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'a' ? 'b' : 'a'
    const verdict = await issuer.authenticateKey(text.slice(0, at) + other + text.slice(at + 1), 'user')
    if (verdict.ok) t.fail(`character ${at} does not matter`)
  }
  t.same(seen.calls, [])
})

t.test('every denial is the same for the caller, and only the reason for the event differs', async t => {
  const { issuer, clock, options } = setUp()
  const dead = await newKey(issuer, [])
  must(await issuer.revokeKey('operator', dead.key.id))
  const past = await newKey(issuer, [], { expiresAt: clock.now() })
  const elsewhere = createIssuer({ ...options, peppers: [{ ...PEPPER, secret: 'z'.repeat(32) }] })
  const wrong = await newKey(elsewhere, [])
  const stranger = await newKey(setUp().issuer, [])
  const verdicts = [
    await issuer.authenticateKey('junk', 'user'),
    await issuer.authenticateKey(stranger.text, 'user'),
    await issuer.authenticateKey(wrong.text, 'user'),
    await issuer.authenticateKey(dead.text, 'user'),
    await issuer.authenticateKey(past.text, 'user'),
  ]
  const shown = verdicts.map(verdict => JSON.stringify({ ...verdict, reason: null }))
  t.equal(new Set(shown).size, 1)
  t.equal(new Set(verdicts.map(verdict => 'reason' in verdict && verdict.reason)).size, 5)
  // The secret is checked before the state, so nobody without it learns that a key was revoked.
  t.match(await elsewhere.authenticateKey(dead.text, 'user'), { reason: /wrong secret/ })
})

t.test('accepts a key until 1 ms before its end', async t => {
  const { issuer, clock } = setUp()
  const { text } = await newKey(issuer, [], { expiresAt: clock.now() + 1000 })
  clock.advance(999)
  t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
  clock.advance(1)
  t.match(await issuer.authenticateKey(text, 'user'), { code: 'unauthorized', reason: 'the key has expired' })
})

t.test('a cached key costs no storage call, and a change in this process applies at once', async t => {
  const { issuer, seen } = watchedSetUp()
  const { key, text } = await newKey(issuer, ['a.read'])
  must(await issuer.authenticateKey(text, 'user', CACHED))
  seen.calls.length = 0
  for (let n = 0; n < 5; n++) must(await issuer.authenticateKey(text, 'user', CACHED))
  t.same(seen.calls, [])
  must(await issuer.changeKey('operator', key.id, { scopes: [] }))
  t.same(must(await issuer.authenticateKey(text, 'user', CACHED)).scopes, [])
  must(await issuer.revokeKey('operator', key.id))
  t.match(await issuer.authenticateKey(text, 'user', CACHED), { code: 'unauthorized' })
})

t.test('a key is exchanged with the rights that it has now, whichever process changed it', async t => {
  const { issuer, options } = setUp()
  const elsewhere = createIssuer(options)
  const { key, text } = await newKey(issuer, ['a.read', 'b.read'])
  must(await issuer.issueSession(must(await issuer.authenticateKey(text, 'user'))))
  must(await elsewhere.changeKey('operator', key.id, { scopes: ['a.read'] }))
  const { session } = must(await issuer.issueSession(must(await issuer.authenticateKey(text, 'user'))))
  t.match(session, { keyVersion: 2, scopes: ['a.read'] })
  must(await elsewhere.revokeKey('operator', key.id))
  t.match(await issuer.authenticateKey(text, 'user'), { code: 'unauthorized', reason: 'revoked' })
})

t.test('refuses a cache time that is no whole number from 0 to 1000', async t => {
  const { issuer } = setUp()
  const { text } = await newKey(issuer, [])
  for (const cacheMs of [-1, 1001, 0.5, '5' as never])
    t.throws(() => issuer.authenticateKey(text, 'user', { cacheMs }), {
      name: 'TypeError',
      message: /^authenticateKey cacheMs must be an integer from 0 to 1000/,
    })
  for (const cacheMs of [0, 1000]) must(await issuer.authenticateKey(text, 'user', { cacheMs }))
})

t.test('throws a fault when the store is down, and never a denial', async t => {
  const { issuer, seen } = watchedSetUp()
  const { key, text } = await newKey(issuer, [])
  seen.down = true
  const fault = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
  await t.rejects(issuer.authenticateKey(text, 'user'), fault)
  await t.rejects(issuer.revokeKey('operator', key.id), fault)
  await t.rejects(issuer.createKey({ ...USER, scopes: [] }), fault)
})

t.test('writes uses in batches: at once when the recorded use is old, else at the next flush', async t => {
  const { issuer, seen, clock, options } = watchedSetUp()
  const { key, text } = await newKey(issuer, [])
  const stored = async () => (await options.keys.find(key.id))?.lastUsedAt
  must(await issuer.authenticateKey(text, 'user'))
  t.equal(await stored(), clock.now(), 'the first use')
  seen.calls.length = 0
  const first = clock.now()
  for (let n = 0; n < 50; n++) {
    clock.advance(1000)
    must(await issuer.authenticateKey(text, 'user'))
  }
  t.notOk(seen.calls.includes('touch'))
  t.equal(await stored(), first)
  await issuer.flush()
  t.equal(seen.calls.filter(call => call === 'touch').length, 1)
  t.equal(await stored(), clock.now())
  clock.advance(DAY / 2)
  must(await issuer.authenticateKey(text, 'user'))
  t.equal(await stored(), clock.now(), 'after 12 h of silence')
})

t.test('keeps a batch that cannot be written for the next write', async t => {
  const { issuer, seen, clock, options } = watchedSetUp()
  const { key, text } = await newKey(issuer, [])
  must(await issuer.authenticateKey(text, 'user'))
  clock.advance(1000)
  must(await issuer.authenticateKey(text, 'user'))
  seen.down = true
  await t.rejects(issuer.flush(), { code: 'ERR_STORE_UNAVAILABLE' })
  seen.down = false
  await issuer.flush()
  t.equal((await options.keys.find(key.id))?.lastUsedAt, clock.now())
})

const NEWER = { id: 'p2', secret: new Uint8Array(32).fill(7) }

t.test('keys under an old pepper authenticate and move to the new one', async t => {
  const { issuer, options } = setUp()
  const { key, text } = await newKey(issuer, [])
  const rolled = createIssuer({ ...options, peppers: [NEWER, PEPPER] })
  t.equal((await options.keys.find(key.id))?.pepperId, 'p1')
  must(await rolled.authenticateKey(text, 'user'))
  t.equal((await options.keys.find(key.id))?.pepperId, 'p2')
  must(await rolled.authenticateKey(text, 'user'))
  const after = createIssuer({ ...options, peppers: [NEWER] })
  t.equal((await after.authenticateKey(text, 'user')).ok, true)
})

t.test('a live key under a pepper that this process does not know is a fault, and no denial', async t => {
  const { issuer, seen, options } = watchedSetUp()
  const { key, text } = await newKey(issuer, [])
  const rolled = createIssuer({ ...options, peppers: [NEWER, PEPPER] })
  must(await rolled.authenticateKey(text, 'user'))
  const missing = { name: 'Fault', code: 'ERR_PEPPER_MISSING', message: new RegExp(`${key.id}.*"p2"`) }
  seen.calls.length = 0
  for (let n = 0; n < 3; n++) await t.rejects(issuer.authenticateKey(text, 'user', CACHED), missing)
  t.same(seen.calls, ['find'], 'one read, so that nobody makes it a load')
  const unlimited = () => t.fail('a key that is cached is no read')
  await t.rejects(issuer.authenticateKey(text, 'user', { ...CACHED, limitRead: unlimited as never }), missing)

  must(await rolled.revokeKey('operator', key.id))
  const later = createIssuer(options)
  t.match(
    await later.authenticateKey(text, 'user'),
    { code: 'unauthorized' },
    'an ended key is denied for good',
  )
})

t.test('with two peppers in either order every process takes every key', async t => {
  const { issuer, options } = setUp({ peppers: [PEPPER, NEWER] })
  const moved = createIssuer({ ...options, peppers: [NEWER, PEPPER] })
  const { text } = await newKey(issuer, [])
  for (const process of [moved, issuer, moved, issuer])
    t.equal((await process.authenticateKey(text, 'user')).ok, true)
})

t.test('denies a digest whose scheme this version does not know', async t => {
  const { issuer, options } = setUp()
  const { key, text } = await newKey(issuer, [])
  const { digest = '', pepperId = '' } = (await options.keys.find(key.id)) ?? {}
  t.match(digest, /^hmac-sha256:[\w-]{43}$/)
  for (const other of [digest.replace('hmac-sha256', 'sha256'), 'hmac-sha256:', `${digest}AA`, '']) {
    await options.keys.touch([{ id: key.id, at: 1, rehash: { digest: other, pepperId } }])
    t.equal((await issuer.authenticateKey(text, 'user')).ok, false)
  }
})

t.test(
  'passes the read of an unknown key to the host, but neither malformed texts nor cached keys',
  async t => {
    const { issuer, seen } = watchedSetUp()
    const { text } = await newKey(issuer, [])
    seen.calls.length = 0
    const full = { ok: false, code: 'rate_limited', status: 429, message: 'full' } as const
    let asked = 0
    const denyRead = async (): Promise<typeof full> => {
      asked++
      return full
    }
    t.match(await issuer.authenticateKey(text, 'user', { limitRead: denyRead }), full)
    t.same(seen.calls, [], 'denied without a read')
    t.match(await issuer.authenticateKey(text, 'user', { limitRead: read => read() }), { ok: true })
    t.match(
      await issuer.authenticateKey(text, 'user', { limitRead: denyRead }),
      { ok: true },
      'proven before, so never put off',
    )
    t.match(await issuer.authenticateKey('junk', 'user', { limitRead: denyRead }), { code: 'unauthorized' })
    t.equal(asked, 1)
    const wrong = await newKey(createIssuer(setUp().options), [])
    t.match(await issuer.authenticateKey(wrong.text, 'user', { limitRead: denyRead }), full)
  },
)

t.test(
  'lets the caller limit the reads of a key that has ended, however often its holder sends it',
  async t => {
    const { issuer, seen, clock } = watchedSetUp()
    const full = { ok: false, code: 'rate_limited', status: 429, message: 'not now' } as const
    const denyRead = { limitRead: () => Promise.resolve(full) }
    const revoked = await newKey(issuer, [])
    const expiring = await newKey(issuer, [], { expiresAt: clock.now() + 1000 })
    for (const { text } of [revoked, expiring]) must(await issuer.authenticateKey(text, 'user'))
    must(await issuer.revokeKey('operator', revoked.key.id))
    t.match(
      await issuer.authenticateKey(revoked.text, 'user'),
      { code: 'unauthorized' },
      'is cached as revoked',
    )
    clock.advance(999)
    t.match(
      await issuer.authenticateKey(expiring.text, 'user', denyRead),
      { ok: true },
      'live to its last ms',
    )
    clock.advance(1)
    seen.calls.length = 0
    for (const { text } of [revoked, expiring])
      t.match(await issuer.authenticateKey(text, 'user', denyRead), full)
    t.same(seen.calls, [], 'denied without a read')
  },
)

t.test('caches several keys', async t => {
  const { issuer, seen } = watchedSetUp()
  const texts = [(await newKey(issuer, [])).text, (await newKey(issuer, [])).text]
  for (const text of texts) must(await issuer.authenticateKey(text, 'user', CACHED))
  seen.calls.length = 0
  for (const text of texts) must(await issuer.authenticateKey(text, 'user', CACHED))
  t.same(seen.calls, [])
})

t.test('leaves a use that another host has just written to the next flush', async t => {
  const { issuer, seen, clock, options } = watchedSetUp()
  const { key, text } = await newKey(issuer, [])
  must(await createIssuer(options).authenticateKey(text, 'user'))
  const written = clock.now()
  for (const ms of [1, DAY / 2 - 2]) {
    clock.advance(ms)
    must(await issuer.authenticateKey(text, 'user'))
  }
  t.notOk(seen.calls.includes('touch'))
  t.equal((await options.keys.find(key.id))?.lastUsedAt, written)
})
