import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../../harness/random-cases.ts'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { partnerUser, type PartnerUser } from '../../harness/partner.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })

/** A user of each surface, and how its responses show it. */
const surfaces: Record<
  string,
  () => Promise<{ path: string; ask: PartnerUser; shown(response: HttpResponse): unknown }>
> = {
  user: async () => {
    const { token } = await bootstrapUser(host.send, { walletLabel: 'Main' })
    return {
      path: '/user/v1/users',
      ask: (path, options = {}) =>
        host.send(path, { ...options, headers: { ...bearer(token), ...options.headers } }),
      shown: ({ body }) => body.data['user'],
    }
  },
  partner: async () => ({
    path: '/partner/v1/users',
    ask: await partnerUser(host, `user-${Math.random()}`, ['users.read', 'users.write']),
    shown: ({ body }) => body.data,
  }),
}

t.test('a wallet user reads what is known of it', async t => {
  const { token, userId } = await bootstrapUser(host.send, { walletLabel: 'Main' })
  const { status, body } = await host.send('/user/v1/users', { headers: bearer(token) })
  t.equal(status, 200)
  const { walletAddress, createdAt, ...user } = body.data['user'] as Record<string, unknown>
  t.match(walletAddress, /^0x[0-9a-f]{40}$/)
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.same(user, {
    id: userId,
    walletLabel: 'Main',
    displayName: null,
    email: null,
    kycStatus: 'not_submitted',
    agreementsAccepted: false,
    frozenAt: null,
  })
})

t.test('a session of a partner reads the user under the id of the partner', async t => {
  const ask = await partnerUser(host, 'ann', ['users.read'])
  const { createdAt, ...user } = (await ask('/partner/v1/users')).body.data
  t.type(createdAt, 'string')
  t.same(user, {
    userId: 'ann',
    walletAddress: null,
    walletLabel: null,
    displayName: null,
    email: null,
    kycStatus: 'not_submitted',
  })
})

for (const [surface, open] of Object.entries(surfaces)) {
  t.test(`${surface}: a change changes what it names and keeps the rest`, async t => {
    const { path, ask, shown } = await open()
    const change = async (body: object): Promise<unknown> => {
      const response = await ask(path, { method: 'PATCH', body })
      t.equal(response.status, 200)
      t.same(shown(await ask(path)), shown(response), 'as it is read afterwards')
      return shown(response)
    }
    t.match(await change({ displayName: 'Zoé' }), { displayName: 'Zoé', email: null })
    t.match(await change({ email: 'Zoe@example.com' }), { displayName: 'Zoé', email: 'Zoe@example.com' })
    t.match(await change({ displayName: null }), { displayName: null, email: 'Zoe@example.com' })
    t.match(await change({ displayName: 'Z', email: null, other: 1 }), { displayName: 'Z', email: null })
  })

  t.test(`${surface}: denies a change of nothing, and names the member that cannot be`, async t => {
    const { path, ask } = await open()
    const denied = async (body: object, field: string): Promise<void> => {
      const response = await ask(path, { method: 'PATCH', body })
      t.match(response, { status: 400, body: { error: 'invalid_request', field } }, JSON.stringify(body))
    }
    await denied({}, 'displayName')
    await denied({ walletLabel: 'Other' }, 'displayName')
    for (const displayName of ['', 'x'.repeat(81), 'two\nlines', 'zoe\u0301', 7])
      await denied({ displayName }, 'displayName')
    for (const email of [
      '',
      'ann',
      '@example.com',
      'ann@',
      'ann@localhost',
      'a b@example.com',
      'ann@example..com',
      '.ann@example.com',
      'ann.@example.com',
      'ann@-example.com',
      'ann@example.com\n',
      'ann@exämple.com',
      `${'a'.repeat(65)}@example.com`,
      `ann@${'a'.repeat(64)}.com`,
      `ann@${'abcdefg.'.repeat(32)}com`,
      '"ann"@example.com',
      'ann@[127.0.0.1]',
      'a@b@example.com',
      5,
    ])
      await denied({ email }, 'email')
  })

  t.test(`${surface}: of simultaneous changes of two members none is lost`, async t => {
    const { path, ask, shown } = await open()
    const bodies = Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0 ? { displayName: `Ann ${n}` } : { email: `ann${n}@example.com` },
    )
    const responses = await Promise.all(bodies.map(body => ask(path, { method: 'PATCH', body })))
    t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
    t.match(shown(await ask(path)), { displayName: /^Ann/, email: /^ann/ })
  })
}

t.test(
  'takes every address that fast-check makes of RFC 5321 letters, and returns it as it was',
  async () => {
    const { token } = await bootstrapUser(host.send)
    await fc.assert(
      fc.asyncProperty(fc.emailAddress({ size: '+1' }), async email => {
        fc.pre(email.length <= 254)
        const { status, body } = await host.send('/user/v1/users', {
          method: 'PATCH',
          body: { email },
          headers: bearer(token),
        })
        assert.equal(status, 200)
        assert.equal((body.data['user'] as { email: string }).email, email)
      }),
      { numRuns: randomCases(50) },
    )
  },
)

t.test('reads and changes only with the scope of each', async t => {
  const reader = await partnerUser(host, 'bob', ['users.read'])
  const writer = await partnerUser(host, 'bob', ['users.write'])
  const body = { displayName: 'Bob' }
  t.match(await reader('/partner/v1/users', { method: 'PATCH', body }), { status: 403 })
  t.match(await writer('/partner/v1/users'), { status: 403, body: { error: 'insufficient_scope' } })
  t.equal((await writer('/partner/v1/users', { method: 'PATCH', body })).status, 200)
  t.match((await reader('/partner/v1/users')).body.data, { displayName: 'Bob' })
  t.same(host.failures, [])
})
