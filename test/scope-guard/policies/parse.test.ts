import { parsePolicy } from '@gatewright/scope-guard'
import t from 'tap'

t.test('accepts every member of a policy and returns a frozen copy', async t => {
  const value = {
    maxAuthAmountCents: 5000,
    dailySpendCapCents: 0,
    dailyWithdrawalCapCents: 100_000,
    alertAtPercent: 100,
    allowCardSecrets: false,
    notBefore: '2026-01-01T00:00:00Z',
    notAfter: '2026-12-31T23:59:59.999+02:00',
    denyOperations: ['withdrawals.*'],
    allowOperations: ['cards.list', 'cards.secrets.session'],
    limits: [
      { operations: ['deposits.create'], maxCents: 100, window: 'operation' },
      { operations: ['cards.*'], maxCount: 3, window: 'month' },
      { operations: ['cards.*'], maxCount: 3, window: 'week', alertAtPercent: 1 },
    ],
    timeZone: 'America/Argentina/Buenos_Aires',
    allowedIps: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1'],
  }
  const parsed = parsePolicy(value)
  t.match(parsed, { ok: true, value })
  if (!parsed.ok) return
  t.not(parsed.value, value)
  t.ok(Object.isFrozen(parsed.value.limits?.[0]?.operations))
  t.match(parsePolicy({}), { ok: true, value: {} })
})

t.test('denies an invalid policy and names the member', async t => {
  const wrong: [unknown, string][] = [
    [null, 'policy'],
    [[], 'policy'],
    ['{}', 'policy'],
    [{ dailySpendCap: 1 }, 'dailySpendCap'],
    [JSON.parse('{"__proto__": {"x": 1}}'), '__proto__'],
    [{ constructor: 1 }, 'constructor'],
    [{ maxAuthAmountCents: -1 }, 'maxAuthAmountCents'],
    [{ maxAuthAmountCents: 1.5 }, 'maxAuthAmountCents'],
    [{ maxAuthAmountCents: '100' }, 'maxAuthAmountCents'],
    [{ maxAuthAmountCents: null }, 'maxAuthAmountCents'],
    [{ maxAuthAmountCents: 2 ** 53 }, 'maxAuthAmountCents'],
    [{ dailySpendCapCents: NaN }, 'dailySpendCapCents'],
    [{ dailySpendCapCents: 100, alertAtPercent: 0 }, 'alertAtPercent'],
    [{ dailySpendCapCents: 100, alertAtPercent: 101 }, 'alertAtPercent'],
    [{ dailySpendCapCents: 100, alertAtPercent: 79.5 }, 'alertAtPercent'],
    [{ maxAuthAmountCents: 100, alertAtPercent: 80 }, 'alertAtPercent'],
    [
      { limits: [{ operations: ['a.b'], maxCents: 1, window: 'day', alertAtPercent: '80' }] },
      'limits[0].alertAtPercent',
    ],
    [
      { limits: [{ operations: ['a.b'], maxCents: 1, window: 'operation', alertAtPercent: 80 }] },
      'limits[0].alertAtPercent',
    ],
    [
      {
        limits: Array.from({ length: 5 }, (_, n) => ({
          operations: [`a.b${n}`],
          maxCents: 1,
          window: 'day',
          alertAtPercent: 80,
        })),
      },
      'limits[4].alertAtPercent',
    ],
    [
      { limits: [{ operations: ['a.b'], approveAboveCents: 1, window: 'day', alertAtPercent: 80 }] },
      'limits[0].alertAtPercent',
    ],
    [{ limits: [{ operations: ['a.b'], approveAboveCents: 1, maxCents: 9, window: 'day' }] }, 'limits[0]'],
    [
      { limits: [{ operations: ['a.b'], approveAboveCents: -1, window: 'day' }] },
      'limits[0].approveAboveCents',
    ],
    [{ allowCardSecrets: 'false' }, 'allowCardSecrets'],
    [{ notBefore: '2026-01-01' }, 'notBefore'],
    [{ notBefore: 1_767_225_600 }, 'notBefore'],
    [{ notAfter: '2026-13-01T00:00:00Z' }, 'notAfter'],
    [{ notBefore: '2026-01-02T00:00:00Z', notAfter: '2026-01-02T00:00:00Z' }, 'notAfter'],
    [{ denyOperations: 'cards.*' }, 'denyOperations'],
    [{ denyOperations: ['*'] }, 'denyOperations[0]'],
    [{ denyOperations: ['cards.list', 'cards'] }, 'denyOperations[1]'],
    [{ allowOperations: Array(101).fill('a.b') }, 'allowOperations'],
    [{ limits: [{ operations: ['a.b'], maxCents: 1 }] }, 'limits[0].window'],
    [{ limits: [{ operations: ['a.b'], maxCents: 1, window: 'year' }] }, 'limits[0].window'],
    [{ limits: [{ operations: [], maxCents: 1, window: 'day' }] }, 'limits[0].operations'],
    [{ limits: [{ maxCents: 1, window: 'day' }] }, 'limits[0].operations'],
    [{ limits: [{ operations: ['a.b'], window: 'day' }] }, 'limits[0]'],
    [{ limits: [{ operations: ['a.b'], maxCents: 1, maxCount: 1, window: 'day' }] }, 'limits[0]'],
    [{ limits: [{ operations: ['a.b'], maxCount: 1, window: 'operation' }] }, 'limits[0].window'],
    [{ limits: [{ operations: ['a.b'], maxCents: 1, window: 'day', extra: 1 }] }, 'limits[0].extra'],
    [{ timeZone: 'Europe/Atlantis' }, 'timeZone'],
    [{ timeZone: '+01:00' }, 'timeZone'],
    [{ timeZone: '' }, 'timeZone'],
    [{ timeZone: null }, 'timeZone'],
    [{ timeZone: ['Europe/Berlin'] }, 'timeZone'],
    [{ timeZone: `Europe/Berlin${'x'.repeat(100)}` }, 'timeZone'],
    [{ allowedIps: ['10.0.0.0/33'] }, 'allowedIps[0]'],
    [{ allowedIps: ['127.1'] }, 'allowedIps[0]'],
    [{ allowedIps: ['example.com'] }, 'allowedIps[0]'],
  ]
  for (const [value, field] of wrong) {
    t.match(
      parsePolicy(value),
      { ok: false, code: 'invalid_request', status: 400, field },
      JSON.stringify(value),
    )
  }
})

const limitOn = (...operations: string[]) => ({ operations, maxCount: 1, window: 'day' })

t.test('accepts a policy of 16 limits, and denies one of 17 with the field', async t => {
  const limits = (count: number) => Array.from({ length: count }, (_, n) => limitOn(`a.b${n}`))
  t.match(parsePolicy({ limits: limits(16) }), { ok: true })
  const denied = { ok: false, code: 'invalid_request', field: 'limits' }
  t.match(parsePolicy({ limits: limits(17) }), { ...denied, message: 'limits must be a list of at most 16' })
})

t.test('accepts a policy of 8192 bytes of JSON, and denies one of 8193 with the field', async t => {
  /** A policy whose JSON has so many bytes. */
  const policyOf = (bytes: number): object => {
    const pattern = `tag.${'x'.repeat(93)}`
    const policy = { denyOperations: Array.from({ length: 81 }, () => pattern), allowOperations: ['tag.x'] }
    const missing = bytes - JSON.stringify(policy).length
    policy.allowOperations = [`tag.${'x'.repeat(1 + missing)}`]
    return policy
  }
  for (const bytes of [8192, 8193]) t.equal(JSON.stringify(policyOf(bytes)).length, bytes)
  t.match(parsePolicy(policyOf(8192)), { ok: true })
  t.match(parsePolicy(policyOf(8193)), {
    ok: false,
    code: 'invalid_request',
    field: 'policy',
    message: 'policy must have at most 8192 bytes as JSON, got 8193',
  })
})

t.test('suggests the nearest member for an unknown one, and repeats the beginning of a long one', async t => {
  const messageFor = (value: unknown): unknown => {
    const parsed = parsePolicy(value)
    return parsed.ok ? undefined : parsed.message
  }
  t.equal(
    messageFor({ dailySpendCap: 1 }),
    'dailySpendCap is not a known member; did you mean dailySpendCapCents?',
  )
  t.equal(
    messageFor({ limits: [{ maxCent: 1 }] }),
    'limits[0].maxCent is not a known member; did you mean maxCents?',
  )
  t.match(messageFor({ note: 1 }), /^note is not a known member; known: maxAuthAmountCents, .*, allowedIps$/)
  const long = parsePolicy({ ['x'.repeat(100_000)]: 1 })
  t.match(long, { ok: false, field: `${'x'.repeat(16)}…` })
  t.ok((messageFor({ ['x'.repeat(100_000)]: 1 }) as string).length < 300)
})

t.test('accepts operations of 100 characters, and no longer ones', async t => {
  const operation = (length: number): string => `a.${'b'.repeat(length - 2)}`
  t.match(parsePolicy({ denyOperations: [operation(100)] }), { ok: true })
  t.match(parsePolicy({ denyOperations: [operation(101)] }), { ok: false, field: 'denyOperations[0]' })
})

t.test('accepts a list of 100 entries', async t => {
  t.match(parsePolicy({ denyOperations: Array(100).fill('a.b') }), { ok: true })
})
