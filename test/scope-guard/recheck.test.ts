import t from 'tap'
import { bench, session } from './issuer.ts'

const rule = { operation: 'cards.create', allOf: ['cards.write'] }

async function accepted(options: Parameters<typeof bench>[0], policyIds: readonly string[] = []) {
  const made = await bench(options)
  const issued = session(made.clock.now(), { policyIds })
  const verdict = await made.guard.authorize(issued, { authorization: undefined, address: '192.0.2.1' }, rule)
  if (!verdict.ok) throw new Error(verdict.code)
  const recheck = (address = '192.0.2.1') => made.guard.recheck(verdict.value, { address })
  return { ...made, access: verdict.value, recheck }
}

t.test('accepts again while nothing has changed, and counts no limit', async t => {
  const { recheck } = await accepted({
    limits: [{ name: 'perKey', points: 1, windowSeconds: 60, per: 'key' }],
  })
  t.match(await recheck(), { ok: true })
  t.match(await recheck(), { ok: true })
})

t.test('denies a session that was revoked after it was accepted', async t => {
  let isLive = true
  const { recheck } = await accepted({ revocation: { mode: 'strict', isLive: async () => isLive } })
  isLive = false
  t.match(await recheck(), { ok: false, code: 'unauthorized', reason: 'revoked' })
})

t.test('denies a session exactly at its expiry', async t => {
  const { recheck, clock, access } = await accepted({})
  clock.set(access.session.expiresAt - 1)
  t.match(await recheck(), { ok: true })
  clock.advance(1)
  t.match(await recheck(), { ok: false, code: 'session_expired', evidence: { operation: 'cards.create' } })
})

t.test('denies what the policy blocks at the time of the recheck', async t => {
  const made = await bench()
  const notAfter = new Date(made.clock.now() + 5000).toISOString()
  const policies = async () => [{ notAfter, allowedIps: ['192.0.2.0/24'] }]
  const { recheck, clock } = await accepted({ policies }, ['pol_1'])
  t.match(await recheck(), { ok: true })
  t.match(await recheck('198.51.100.1'), { code: 'policy_blocked', details: { rule: 'allowedIps' } })
  clock.set(Date.parse(notAfter))
  t.match(await recheck(), { code: 'policy_blocked', details: { rule: 'notAfter' } })
})
