import { keyPolicyId } from '@gatewright/kernel/internal'
import { manualClock } from '@gatewright/kernel/testing'
import { createGuard, type Policy, type PolicyDocument } from '@gatewright/scope-guard'
import { findLooserMember } from '@gatewright/scope-guard/internal'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { policy, START } from './arbitrary.ts'

const rule = { operation: 'cards.create', allOf: [], spends: 'spend' } as const

function guardAt(now: number) {
  const clock = manualClock(now)
  const guard = createGuard({
    issuer: 'i',
    audience: 'a',
    keys: async () => undefined,
    failedCredentials: 'off',
    clock,
  })
  return { guard, clock }
}
const one = (document: Policy, id = 'p'): PolicyDocument => ({ id, document })
const looser = (policies: readonly PolicyDocument[], reference: readonly PolicyDocument[]) =>
  findLooserMember(policies, reference, rule)

const at = (hours: number): string => new Date(START + hours * 3_600_000).toISOString()
/** Each member with a policy, and one that is looser by the least. */
const MEMBERS: readonly (readonly [keyof Policy, Policy, Policy])[] = [
  ['maxAuthAmountCents', { maxAuthAmountCents: 5 }, { maxAuthAmountCents: 6 }],
  ['approveAboveCents', { approveAboveCents: 0 }, { approveAboveCents: 1 }],
  ['dailySpendCapCents', { dailySpendCapCents: 0 }, { dailySpendCapCents: 1 }],
  [
    'limits',
    { limits: [{ operations: ['cards.*'], window: 'day', maxCents: 5 }] },
    { limits: [{ operations: ['cards.*'], window: 'day', maxCents: 6 }] },
  ],
  [
    'limits',
    { limits: [{ operations: ['cards.create'], window: 'total', maxCount: 5 }] },
    { limits: [{ operations: ['cards.create'], window: 'total', maxCount: 6 }] },
  ],
  ['notBefore', { notBefore: at(2) }, { notBefore: at(1) }],
  ['notAfter', { notAfter: at(1) }, { notAfter: at(2) }],
]
/** Each member with a policy, and one that binds the operation by nothing that can be compared with it. */
const LISTS: readonly (readonly [keyof Policy, Policy, Policy])[] = [
  ['denyOperations', { denyOperations: ['cards.*'] }, { denyOperations: ['bills.*'] }],
  ['allowOperations', { allowOperations: ['bills.*'] }, { allowOperations: ['cards.*'] }],
  ['payees', { payees: ['merchant:m'] }, { payees: ['merchant:m', 'merchant:n'] }],
  ['denyPayees', { denyPayees: ['merchant:m', 'merchant:n'] }, { denyPayees: ['merchant:m'] }],
  [
    'limits',
    { limits: [{ operations: ['cards.*'], window: 'day', maxCount: 5 }] },
    { limits: [{ operations: ['cards.*'], window: 'month', maxCount: 5 }] },
  ],
  [
    'limits',
    { limits: [{ operations: ['cards.*'], window: '24h', maxCents: 5 }] },
    { limits: [{ operations: ['cards.*'], window: 'day', maxCents: 5 }] },
  ],
  [
    'dailySpendCapCents',
    { dailySpendCapCents: 5, timeZone: 'Europe/Berlin' },
    { dailySpendCapCents: 5, timeZone: 'Asia/Tokyo' },
  ],
]

for (const [member, tight, loose] of [...MEMBERS, ...LISTS]) {
  void t.test(
    `names ${member} where it is missing, looser, or of another owner: ${JSON.stringify(tight)}`,
    t => {
      t.equal(looser([one(tight)], [one(tight)]), undefined, 'as tight')
      t.equal(looser([], [one(tight)]), member, 'missing')
      t.equal(looser([one(loose)], [one(tight)]), member, 'looser')
      t.equal(looser([one(tight, 'other')], [one(tight)]), member, 'of another owner')
      t.equal(looser([one(tight), one(loose, 'other')], [one(tight)]), undefined, 'more policies')
      t.equal(looser([one(tight)], []), undefined, 'the reference is empty')
      t.end()
    },
  )
}

const [first, second] = ['aaaaaaaa', 'bbbbbbbb'].map(random => keyPolicyId('0123456789abcdef', random)) as [
  string,
  string,
]

t.test('accepts what is tighter, and of several policies of one owner compares the tightest', t => {
  for (const [member, tight, loose] of MEMBERS) {
    t.equal(looser([one(tight)], [one(loose)]), undefined, `${member}, tighter`)
    t.equal(looser([one(tight, first)], [one(loose, second)]), undefined, `${member}, a policy given later`)
    t.equal(looser([one(loose, first)], [one(tight, second)]), member, 'looser than the one given later')
    for (const both of [
      [one(loose, first), one(tight, second)],
      [one(tight, first), one(loose, second)],
    ]) {
      t.equal(looser(both, both), undefined)
      t.equal(looser(both, [one(tight, first)]), undefined, 'the tightest binds')
      t.equal(looser([one(loose, first)], both), member, 'the tightest of the reference counts')
    }
  }
  const [deny, allow] = [
    one({ denyOperations: ['cards.create'] }, first),
    one({ allowOperations: [] }, second),
  ]
  t.equal(looser([deny], [allow]), undefined, 'both lists block the operation')
  t.equal(looser([], [deny, allow]), 'denyOperations', 'the first of equal ones is named')
  t.end()
})

t.test('ignores members that do not bind the operation', t => {
  const free: Policy = {
    dailyWithdrawalCapCents: 1,
    allowedIps: ['192.0.2.1'],
    allowCardSecrets: false,
    denyOperations: ['bills.pay'],
    allowOperations: ['cards.*'],
    limits: [{ operations: ['bills.*'], window: 'day', maxCount: 1 }],
  }
  t.equal(looser([], [one(free)]), undefined)
  const withdrawal = { ...rule, spends: 'withdrawal' } as const
  t.equal(findLooserMember([], [one(free)], withdrawal), 'dailyWithdrawalCapCents')
  for (const document of [[], { dailySpendCap: 1 }])
    t.throws(() => looser([], [{ id: 'p', document }]), { code: 'ERR_STORE_REPLY' })
  t.end()
})

/** Up to three policies. A chain must not have two policies of one id, so `first` keeps two lists apart. */
const policiesFrom = (first: number) =>
  fc
    .array(fc.tuple(fc.constantFrom('a', 'b'), policy), { maxLength: 3 })
    .map(list =>
      list.map(([owner, document], n) =>
        one(document, keyPolicyId(owner.repeat(16), `${first + n}`.repeat(8))),
      ),
    )
const payments = fc.array(
  fc.record({ cents: fc.integer({ min: 0, max: 120 }), step: fc.integer({ min: 0, max: 36_000_000 }) }),
  { minLength: 1, maxLength: 12 },
)

t.test(
  'payment after payment, the reference allows whatever policies allow that are nowhere looser',
  async t => {
    const seen = { covered: 0, together: 0, allowed: 0 }
    await fc.assert(
      fc.asyncProperty(policiesFrom(0), policiesFrom(3), payments, async (some, reference, steps) => {
        const covers = looser(some, reference) === undefined
        seen[covers ? 'covered' : 'together'] += 1
        // Policies that do not cover the reference cover it together with it.
        const covering = covers ? some : [...some, ...reference]
        if (looser(covering, reference) !== undefined) throw new Error('the reference does not cover itself')
        const bench = guardAt(START)
        const pay = async (
          by: readonly PolicyDocument[],
          store: ReturnType<typeof memorySpends>,
          cents: number,
        ) => {
          const access = bench.guard.checkPolicies('acc', by, rule)
          if (!access.ok) return false
          return (await bench.guard.reserve(access.value, { amountCents: cents, currency: 'USD' }, store)).ok
        }
        const [ours, theirs] = [memorySpends(), memorySpends()]
        for (const { cents, step } of steps) {
          bench.clock.advance(step)
          if (!(await pay(covering, ours, cents))) continue
          seen.allowed += 1
          if (!(await pay(reference, theirs, cents))) throw new Error(`the reference blocks ${cents} cents`)
        }
      }),
      { numRuns: randomCases(600) },
    )
    for (const [what, times] of Object.entries(seen)) t.ok(times > 0, `${what} ${times} times`)
  },
)

t.test('lists that block the operation bind equally, whichever of the two does', t => {
  const denies = [one({ denyOperations: ['cards.create'] })]
  const allowsOthers = [one({ allowOperations: ['cards.list'] })]
  t.equal(looser(denies, allowsOthers), undefined)
  t.equal(looser(allowsOthers, denies), undefined)
  t.end()
})

t.test('throws for a wrong rule', t => {
  t.throws(() => findLooserMember([], [], { operation: '', allOf: [] }), TypeError)
  t.end()
})
