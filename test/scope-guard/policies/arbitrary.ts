import type { Policy } from '@gatewright/scope-guard'
import type { Rule } from '@gatewright/kernel'
import fc from 'fast-check'
import type { Call } from './naive.ts'

const OPERATIONS = [
  'cards.list',
  'cards.create',
  'cards.secrets.read',
  'withdrawals.create',
  'deposits.create',
]
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 30, 22)

const COUNTED_WINDOWS = ['day', 'week', 'month', '24h', '7d', '30d', 'total'] as const

const operations = fc.uniqueArray(
  fc.constantFrom(...OPERATIONS, 'cards.*', 'withdrawals.*', 'cards.secrets.*'),
  {
    minLength: 1,
    maxLength: 3,
  },
)
const instant = fc
  .integer({ min: 0, max: 72 })
  .map(hours => new Date(START + hours * 3_600_000).toISOString())
const cents = fc.integer({ min: 0, max: 120 })

/** An empty list of these allows no operation. */
const allowed = fc.oneof(
  { weight: 9, arbitrary: operations },
  { weight: 1, arbitrary: fc.constant<readonly string[]>([]) },
)

const percent = fc.integer({ min: 1, max: 100 })

const payees = fc.subarray(['account:a', 'account:b', 'merchant:m', 'country:DE'])

const limit = fc.oneof(
  fc.record({
    operations,
    window: fc.constantFrom('operation', ...COUNTED_WINDOWS),
    maxCents: cents,
  }),
  fc.record({
    operations,
    window: fc.constantFrom('operation', ...COUNTED_WINDOWS),
    approveAboveCents: cents,
  }),
  fc.record(
    {
      operations,
      window: fc.constantFrom(...COUNTED_WINDOWS),
      maxCents: cents,
      alertAtPercent: percent,
    },
    { requiredKeys: ['operations', 'window', 'maxCents'] },
  ),
  fc.record(
    {
      operations,
      window: fc.constantFrom(...COUNTED_WINDOWS),
      maxCount: fc.integer({ min: 0, max: 4 }),
      alertAtPercent: percent,
    },
    { requiredKeys: ['operations', 'window', 'maxCount'] },
  ),
)

/** A policy with few members and small numbers, so that random calls meet its edges. */
export const policy: fc.Arbitrary<Policy> = fc
  .record(
    {
      maxAuthAmountCents: cents,
      approveAboveCents: cents,
      dailySpendCapCents: fc.integer({ min: 0, max: 300 }),
      dailyWithdrawalCapCents: fc.integer({ min: 0, max: 300 }),
      allowCardSecrets: fc.boolean(),
      notBefore: instant,
      notAfter: instant,
      denyOperations: operations,
      allowOperations: allowed,
      limits: fc.array(limit, { maxLength: 3 }),
      alertAtPercent: percent,
      timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu'),
      payees,
      denyPayees: payees,
      allowedIps: fc.subarray(
        [
          '10.0.0.0/8',
          '10.1.2.3',
          '192.0.2.128/25',
          '0.0.0.0/0',
          '2001:db8::/33',
          '2001:db8:8000::7',
          '::/0',
        ],
        { minLength: 1 },
      ),
    },
    { requiredKeys: [] },
  )
  // Half of the members away, at random: a policy with all of them blocks nearly everything.
  .chain(full =>
    fc
      .subarray(Object.keys(full) as (keyof Policy)[])
      .map(kept => Object.fromEntries(kept.map(name => [name, full[name]])) as Policy),
  )
  .map(({ alertAtPercent, ...rest }) =>
    alertAtPercent === undefined || (rest.dailySpendCapCents ?? rest.dailyWithdrawalCapCents) === undefined
      ? rest
      : { ...rest, alertAtPercent },
  )
  .filter(({ notBefore, notAfter }) => !notBefore || !notAfter || notBefore < notAfter)

/** Ids of policies: the last two are of one key, so they share counters. */
const IDS = ['p0', 'p1', 'pol_0123456789abcdef_00000000', 'pol_0123456789abcdef_11111111']

/** A chain of up to four policies, by id. */
export const chain: fc.Arbitrary<Record<string, Policy>> = fc
  .array(policy, { minLength: 1, maxLength: IDS.length })
  .map(list => Object.fromEntries(list.map((one, index) => [IDS[index] as string, one])))

/** US cents of a minor unit of a currency; none for the last one. */
export const RATES: Readonly<Record<string, number>> = { USD: 1, EUR: 1.1, JPY: 0.65 }
const CURRENCIES = [...Object.keys(RATES), 'XAU']

/** A call; times rise with `step`, across midnight and the end of a month. */
export type Step = Omit<Call, 'now' | 'cents'> & {
  readonly step: number
  readonly amount: number
  readonly currency: string
  /** How the hold ends: at once with this part of the amount, released, or not yet. */
  readonly ends: number | 'released' | 'open'
}
export const call: fc.Arbitrary<Step> = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  countsAs: fc.oneof(
    { weight: 3, arbitrary: fc.constant<readonly string[]>([]) },
    { weight: 1, arbitrary: fc.subarray(OPERATIONS, { minLength: 1, maxLength: 2 }) },
  ),
  kind: fc.constantFrom('spend' as const, 'withdrawal' as const, undefined),
  amount: cents,
  currency: fc.oneof(
    { weight: 3, arbitrary: fc.constant('USD') },
    { weight: 2, arbitrary: fc.constantFrom(...CURRENCIES) },
  ),
  ends: fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 3, arbitrary: fc.constantFrom(0, 0.5, 0.5, 'released' as const, 'open' as const) },
  ),
  payee: fc.oneof(
    { weight: 1, arbitrary: fc.constant<readonly string[]>([]) },
    {
      weight: 4,
      arbitrary: fc.subarray(['account:a', 'merchant:m', 'country:DE', 'country:FR'], { minLength: 1 }),
    },
  ),
  cardSecrets: fc.boolean(),
  address: fc.constantFrom(
    '10.1.2.3',
    '10.9.9.9',
    '192.0.2.200',
    '198.51.100.1',
    '2001:db8::1',
    '2001:db8:8000::7',
    undefined,
  ),
  step: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 10 * HOUR }) },
    // To the first instants at which a bucket of a rolling window no longer counts, and the last at which it does.
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        HOUR,
        6 * HOUR,
        24 * HOUR,
        25 * HOUR,
        25 * HOUR - 1,
        174 * HOUR,
        174 * HOUR - 1,
      ),
    },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 800 * HOUR }) },
  ),
})

/** The US cents of an amount, rounded up; undefined without a rate. */
export function centsOf(amount: number, currency: string): number | undefined {
  const rate = RATES[currency]
  return rate === undefined ? undefined : Math.ceil(amount * rate)
}

/**
 * When the calls of a run begin: before the end of a month, or before the clocks of Berlin or Santiago change. In Santiago, they skip
 * midnight.
 */
export const begins = fc.oneof(
  { weight: 3, arbitrary: fc.constant(START) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      Date.UTC(2026, 2, 28, 20),
      Date.UTC(2026, 9, 24, 18),
      Date.UTC(2026, 8, 5, 20),
      Date.UTC(2026, 3, 4, 20),
    ),
  },
)

export const calls = fc.array(call, { minLength: 1, maxLength: 12 })
export { START }

/** The rule under which a call of this kind is guarded. */
export function ruleOf({
  operation,
  kind,
  cardSecrets,
}: Pick<Call, 'operation' | 'kind' | 'cardSecrets'>): Rule {
  return { operation, allOf: [], cardSecrets, ...(kind ? { spends: kind } : {}) }
}
