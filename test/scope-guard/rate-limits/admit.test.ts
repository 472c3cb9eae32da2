import t from 'tap'
import { bench, session } from '../issuer.ts'

const rule = { operation: 'messages.send', allOf: ['no.session.has.this'] }
const limit = { name: 'perKey', points: 2, windowSeconds: 60, per: 'key' } as const

t.test('admit counts under the limits of a rule, and checks neither scopes nor policies', async t => {
  const { guard, clock } = await bench({
    limits: [limit],
    policies: async ids => ids.map(() => ({ allowOperations: [] })),
  })
  const caller = session(clock.now(), { policyIds: ['pol_1'] })
  for (const left of [1, 0]) {
    const admitted = await guard.admit(caller, {}, rule)
    t.match(admitted, { ok: true })
    t.match(admitted.ok && new Map(admitted.value).get('RateLimit'), `"perKey";r=${left};`)
  }
  t.match(await guard.admit(caller, {}, rule), {
    ok: false,
    code: 'rate_limited',
    status: 429,
    details: { limit: 'perKey' },
  })
  clock.advance(60_000)
  t.match(await guard.admit(caller, {}, rule), { ok: true })
})

t.test('admit counts per address, and not under the limit of another class', async t => {
  const { guard, clock } = await bench({
    limits: [
      { ...limit, name: 'perAddress', per: 'address' },
      { ...limit, name: 'money', points: 1, classes: ['money'] },
    ],
  })
  const caller = session(clock.now())
  const admit = async (address: string) => (await guard.admit(caller, { address }, rule)).ok
  t.same([await admit('192.0.2.1'), await admit('192.0.2.1'), await admit('192.0.2.1')], [true, true, false])
  t.ok(await admit('192.0.2.2'))
})

t.test('without limits, admit allows every request and has no header fields', async t => {
  const { guard, clock } = await bench({})
  t.same(await guard.admit(session(clock.now()), {}, rule), { ok: true, value: [] })
})
