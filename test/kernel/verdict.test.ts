import { allow, type Verdict } from '@gatewright/kernel'
import { denier, type DenialOf, type CauseText } from '@gatewright/kernel/internal'
import t from 'tap'

const codes = { unauthorized: 401, rate_limited: 429 } as const
const deny = denier(codes)

t.test('makes a positive decision with its value', async t => {
  t.strictSame(allow(null), { ok: true, value: null })
})

t.test('gives each code the status of the table', async t => {
  t.strictSame(deny('unauthorized', 'no'), { ok: false, code: 'unauthorized', status: 401, message: 'no' })
  t.equal(deny('rate_limited', 'slow down', { retryAfterSeconds: 3 }).retryAfterSeconds, 3)
})

t.test('never lets extras change the code, the status or the denial', async t => {
  const hostile = { ok: true, code: 'allowed', status: 200, message: 'yes', field: 'amount' }
  const expected = { ok: false, code: 'unauthorized', status: 401, message: 'no', field: 'amount' }
  t.strictSame(deny('unauthorized', 'no', hostile), expected)
})

t.test('has a closed union of codes, so that a switch without default compiles', async t => {
  const describe = (verdict: Verdict<number, DenialOf<typeof codes>>): string => {
    if (verdict.ok) return String(verdict.value)
    switch (verdict.code) {
      case 'unauthorized':
        return 'who?'
      case 'rate_limited':
        return 'later'
    }
  }
  t.equal(describe(allow(1)), '1')
  t.equal(describe(deny('rate_limited', '')), 'later')
})

t.test('has closed unions of rules and reasons: one that is not listed does not compile', async t => {
  const denyWithCause = denier<typeof codes, 'max_depth', CauseText<'revoked' | 'differ in {field}'>>(codes)
  const field: string = 'chainId'
  t.match(denyWithCause('unauthorized', 'no', { reason: 'revoked' }), { reason: 'revoked' })
  t.match(denyWithCause('unauthorized', 'no', { reason: `differ in ${field}` }), {
    reason: 'differ in chainId',
  })
  t.match(denyWithCause('unauthorized', 'no', { details: { rule: 'max_depth', limit: 3 } }), {
    details: { limit: 3 },
  })
  // @ts-expect-error -- Not a listed reason.
  denyWithCause('unauthorized', 'no', { reason: 'expired' })
  // @ts-expect-error -- Not a listed rule.
  deny('unauthorized', 'no', { details: { rule: 'max_width' } })
  // @ts-expect-error -- A package without lists says no reason,
  deny('unauthorized', 'no', { reason: 'revoked' })
  // @ts-expect-error -- and no rule.
  deny('unauthorized', 'no', { details: { rule: 'max_depth' } })
})
