import type { Policy, Rule } from '@gatewright/scope-guard'
import fc from 'fast-check'
import type { Call } from './naive.ts'

const OPERATIONS = [
  'cards.list',
  'cards.create',
  'cards.secrets.read',
  'withdrawals.create',
  'deposits.create',
]
const START = Date.UTC(2026, 0, 30, 22)

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

const limit = fc.oneof(
  fc.record({ operations, window: fc.constantFrom('operation', 'day', 'month', 'total'), maxCents: cents }),
  fc.record({
    operations,
    window: fc.constantFrom('day', 'month', 'total'),
    maxCount: fc.integer({ min: 0, max: 4 }),
  }),
)

/** A policy with few members and small numbers, so that random calls meet its edges. */
export const policy: fc.Arbitrary<Policy> = fc
  .record(
    {
      maxAuthAmountCents: cents,
      dailySpendCapCents: fc.integer({ min: 0, max: 300 }),
      dailyWithdrawalCapCents: fc.integer({ min: 0, max: 300 }),
      allowCardSecrets: fc.boolean(),
      notBefore: instant,
      notAfter: instant,
      denyOperations: operations,
      allowOperations: operations,
      limits: fc.array(limit, { maxLength: 3 }),
      allowedIps: fc.subarray(['10.0.0.0/8', '10.1.2.3', '192.0.2.128/25', '0.0.0.0/0'], { minLength: 1 }),
    },
    { requiredKeys: [] },
  )
  // Half of the members away, at random: a policy with all ten blocks nearly everything.
  .chain(full =>
    fc
      .subarray(Object.keys(full) as (keyof Policy)[])
      .map(kept => Object.fromEntries(kept.map(name => [name, full[name]])) as Policy),
  )
  .filter(({ notBefore, notAfter }) => !notBefore || !notAfter || notBefore < notAfter)

/** A chain of up to four policies, by id. */
export const chain: fc.Arbitrary<Record<string, Policy>> = fc
  .array(policy, { minLength: 1, maxLength: 4 })
  .map(list => Object.fromEntries(list.map((one, index) => [`p${index}`, one])))

/** A call; times rise with `step`, across midnight and the end of a month. */
export const call: fc.Arbitrary<Omit<Call, 'now'> & { readonly step: number }> = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  kind: fc.constantFrom('spend' as const, 'withdrawal' as const, undefined),
  cents,
  cardSecrets: fc.boolean(),
  address: fc.constantFrom('10.1.2.3', '10.9.9.9', '192.0.2.200', '198.51.100.1', undefined),
  step: fc.integer({ min: 0, max: 10 * 3_600_000 }),
})

export const calls = fc.array(call, { minLength: 1, maxLength: 12 })
export { START }

/** The rule under which a call of this kind is guarded. */
export function ruleOf({ operation, kind, cardSecrets }: Omit<Call, 'now'>): Rule {
  return { operation, allOf: [], cardSecrets, ...(kind ? { spends: kind } : {}) }
}
