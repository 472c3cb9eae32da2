import t from 'tap'
import { createIssuer } from '@gatewright/session-issuer'
import { issuerOptionRows } from '../workspace/issuer-options.ts'
import { DAY, must, newKey, newSession, setUp } from './fixtures.ts'

/** Not exported by the package: every numeric option with its default and bounds. */
const { BOUNDS } = (await import(`${process.cwd()}/packages/session-issuer/dist/number-options.js`)) as {
  BOUNDS: Record<string, { default: number; min: number; max: number }>
}

/** Options without the session lifetimes, whose bounds depend on each other. */
const independent = Object.entries(BOUNDS).filter(([name]) => !name.includes('SessionTtl'))

/** A number as docstrings and pages write it: with spaces from five digits on. */
const written = (value: number): string =>
  value < 10_000 ? String(value) : String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

t.test('accepts each numeric option at its bounds and refuses it beyond them', async t => {
  const { options } = setUp()
  for (const [name, { min, max }] of independent) {
    for (const value of [min, max]) t.ok(createIssuer({ ...options, [name]: value }), `${name} ${value}`)
    for (const value of [min - 1, max + 1, min + 0.5, '5', NaN]) {
      const message = new RegExp(`^${name} must be an integer from ${min} to ${max}`)
      t.throws(() => createIssuer({ ...options, [name]: value }), { name: 'TypeError', message })
    }
  }
})

t.test('the docstring of each numeric option names its bounds and its default', async t => {
  const rows = new Map(issuerOptionRows().map(({ name, text }) => [name, text]))
  for (const [name, bounds] of Object.entries(BOUNDS)) {
    const text = rows.get(name) ?? ''
    t.match(text, `Default ${written(bounds.default)}`, name)
    const [least, most] = /SessionTtl/.test(name)
      ? [name === 'minSessionTtlSeconds' ? '1' : '`minSessionTtlSeconds`', '']
      : [written(bounds.min), bounds.max === Number.MAX_SAFE_INTEGER ? '' : written(bounds.max)]
    t.ok(text.includes(least) && text.includes(most), `${name}: ${text}`)
  }
})

t.test('keeps session lifetimes between the options, whose default moves into their bounds', async t => {
  const { issuer } = setUp({ minSessionTtlSeconds: 10, maxSessionTtlSeconds: 600 })
  const { key } = await newKey(issuer, [])
  const life = async (ttlSeconds?: number): Promise<number> => {
    const session = await newSession(issuer, key, ttlSeconds === undefined ? {} : { ttlSeconds })
    return (session.expiresAt - session.issuedAt) / 1000
  }
  t.same([await life(10), await life(600), await life()], [10, 600, 600])
  for (const ttlSeconds of [9, 601]) {
    const message = 'ttlSeconds must be an integer from 10 to 600'
    t.match(await issuer.issueSession(key, { ttlSeconds }), { code: 'invalid_request', message })
  }
  const { options } = setUp()
  const wrong: [string, object][] = [
    ['maxSessionTtlSeconds must be an integer from 60 to 86400, not 59', { maxSessionTtlSeconds: 59 }],
    ['maxSessionTtlSeconds must be an integer from 1 to 86400, not 86401', { maxSessionTtlSeconds: 86_401 }],
    ['minSessionTtlSeconds must be an integer from 1 to 86400, not 0', { minSessionTtlSeconds: 0 }],
    [
      'defaultSessionTtlSeconds must be an integer from 60 to 86400, not 59',
      { defaultSessionTtlSeconds: 59 },
    ],
    [
      'defaultSessionTtlSeconds must be an integer from 60 to 300, not 900',
      { maxSessionTtlSeconds: 300, defaultSessionTtlSeconds: 900 },
    ],
  ]
  for (const [message, change] of wrong) {
    t.throws(() => createIssuer({ ...options, ...change }), { name: 'TypeError', message })
  }
})

t.test('denies chains, labels, tokens and overlaps beyond the options', async t => {
  const limits = {
    maxSessionDepth: 1,
    maxKeyDepth: 1,
    maxPolicies: 1,
    maxLabelLength: 3,
    maxOverlapSeconds: 60,
  }
  const { issuer } = setUp(limits)
  const { key } = await newKey(issuer, ['a'])
  const below = await newKey(issuer, ['a'], { parent: key, policy: {} })
  const child = await newSession(issuer, await newSession(issuer, key))
  const max = { code: 'policy_blocked', details: { rule: 'max_depth' } }
  t.match(await issuer.issueSession(child), max)
  t.match(await issuer.issueSession(below.key, { policy: {} }), max)
  t.match(await issuer.changeKey(below.key, below.key.id, { policy: {} }), max)
  t.match(
    await issuer.createKey({
      surface: 'user',
      accountId: 'acc',
      userId: null,
      walletAddress: null,
      scopes: [],
      parent: below.key,
    }),
    max,
  )
  t.match(await issuer.issueSession(key, { label: 'four' }), { code: 'invalid_request', field: 'label' })
  t.match(await issuer.rotateKey(key, key.id, { overlapSeconds: 61 }), {
    code: 'invalid_request',
    message: 'overlapSeconds must be an integer from 0 to 60',
  })
  t.equal((await issuer.rotateKey(key, key.id, { overlapSeconds: 60 })).ok, true)
  const { issuer: small } = setUp({ maxTokenBytes: 256 })
  t.match(await small.issueSession((await newKey(small, [])).key), {
    code: 'invalid_request',
    message: 'the token would be longer than 256 bytes',
  })
})

t.test('keeps as many ended keys listed as the option says', async t => {
  const { issuer } = setUp({ maxEndedKeys: 1 })
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 4; n++) {
    const { key: below } = await newKey(issuer, [], { parent: key })
    must(await issuer.revokeKey(key, below.id))
  }
  // A commit deletes what was too much before it, so the last revoked key comes on top.
  t.equal(must(await issuer.visibleKeys(key)).length, 3)
})

t.test(
  'retires a root that was idle for the time of the option, and records its uses in half of it',
  async t => {
    const { issuer, clock, options } = setUp({
      maxLiveKeys: 1,
      rootKeyIdleMs: DAY / 2,
      lastUsedFlushMs: 600_000,
    })
    const { key, text } = await newKey(issuer, [])
    clock.advance(DAY / 4)
    must(await issuer.authenticateKey(text, 'user'))
    t.equal((await options.keys.find(key.id))?.lastUsedAt, clock.now(), 'the use is written at once')
    clock.advance(DAY / 2 - 1)
    const request = {
      surface: 'user',
      accountId: 'acc',
      userId: null,
      walletAddress: null,
      scopes: [],
    } as const
    t.match(await issuer.createKey(request), { code: 'policy_blocked', details: { rule: 'max_live_keys' } })
    clock.advance(1)
    must(await issuer.createKey(request))
    t.match(await issuer.authenticateKey(text, 'user'), { ok: false, reason: 'revoked' })
  },
)
