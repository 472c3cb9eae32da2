import { Fault } from '@gatewright/kernel'
import {
  checkPolicyChain,
  createGuard,
  localKeys,
  parsePolicy,
  type Policy,
  type PolicyDocument,
} from '@gatewright/scope-guard'
import type { Chain } from '#packages/scope-guard/dist/policies/chain.js'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'

/** Policies with ids of sessions, whose counters are their own. */
const chainOf = (...documents: unknown[]): PolicyDocument[] =>
  documents.map((document, index) => ({ id: `pol_${index}`, document }))

const limitOn = (...operations: string[]) => ({ operations, maxCount: 1, window: 'day' as const })
const limitsOn = (count: number, operation: (index: number) => string) => ({
  limits: Array.from({ length: count }, (_, index) => limitOn(operation(index))),
})
const guard = createGuard({ issuer: 'i', audience: 'a', keys: localKeys({ keys: [] }) })

/** The chain as the guard compiles it. */
function compiledChain(policies: readonly PolicyDocument[]): Chain {
  const access = guard.checkPolicies('acc', policies, { operation: 'none.named', allOf: [] })
  if (!access.ok) throw new Error(access.message)
  return access.value.chain
}

const denied = { ok: false, code: 'invalid_request', status: 400, field: 'policy' }

t.test('accepts a chain of 32768 bytes of JSON, and denies one of 32769', async t => {
  const policyOf = (entries: number, bytes: number) => ({
    denyOperations: Array.from({ length: entries }, () => `t.${'x'.repeat(bytes)}`),
  })
  // 80 entries of 98 bytes and three of punctuation, and the member's own 21.
  const full = policyOf(80, 96)
  t.equal(JSON.stringify(full).length, 8100)
  const chain = [full, full, full, full]
  t.match(checkPolicyChain(chainOf(...chain, policyOf(3, 94), policyOf(1, 26))), { ok: true })
  const message = /at most 32768 bytes of JSON together, got 32769/
  t.match(checkPolicyChain(chainOf(...chain, policyOf(3, 94), policyOf(1, 27))), { ...denied, message })
})

t.test('accepts a chain of 64 limits, and denies one of 65', async t => {
  const policies = Array.from({ length: 4 }, (_, policy) => limitsOn(16, index => `t${policy}.o${index}`))
  t.match(checkPolicyChain(chainOf(...policies)), { ok: true })
  const more = chainOf(
    ...policies,
    limitsOn(1, () => 'more.one'),
  )
  t.match(checkPolicyChain(more), { ...denied, message: /at most 64 limits together, got 65/ })
})

t.test('accepts 32 counters for a call, and denies 33', async t => {
  const caps = { dailySpendCapCents: 1, dailyWithdrawalCapCents: 1 }
  const same = (count: number) => limitsOn(count, () => 'cards.list')
  const cases: [expected: number, ...policies: Policy[]][] = [
    [32, ...Array.from({ length: 16 }, () => caps)],
    [33, ...Array.from({ length: 16 }, () => caps), { limits: [limitOn('cards.list')] }],
    [32, same(1), ...Array.from({ length: 31 }, () => same(1))],
    [33, same(1), ...Array.from({ length: 32 }, () => same(1))],
    // A limit on a tag counts calls of each of its operations; an operation may be named twice by one limit.
    [32, ...Array.from({ length: 16 }, () => ({ limits: [limitOn('cards.*'), limitOn('cards.list')] }))],
    [
      33,
      ...Array.from({ length: 16 }, () => ({ limits: [limitOn('cards.*'), limitOn('cards.list')] })),
      { limits: [limitOn('cards.list', 'cards.*')] },
    ],
    [33, ...Array.from({ length: 33 }, () => ({ limits: [limitOn('cards.limits.*')] }))],
  ]
  for (const [expected, ...policies] of cases) {
    const verdict = checkPolicyChain(chainOf(...policies))
    if (expected <= 32) t.match(verdict, { ok: true })
    else t.match(verdict, { ...denied, message: /at most 32 counters of together, got 33/ })
  }
})

t.test('counts neither caps on a single call nor the same counter twice', async t => {
  const single = {
    maxAuthAmountCents: 1,
    limits: [{ operations: ['a.b'], window: 'operation', maxCents: 1 }],
  }
  const singles = Array.from({ length: 40 }, () => single)
  t.match(checkPolicyChain(chainOf(...singles)), { ok: true })
  // All policies that one key was given share their counters.
  const ofOneKey = Array.from({ length: 40 }, (_, index) => ({
    id: `pol_${'k'.repeat(16)}_${String(index).padStart(8, '0')}`,
    document: { limits: [limitOn('a.b')] },
  }))
  t.match(checkPolicyChain(ofOneKey), { ok: true })
})

t.test('counts a policy that is in the chain twice once', async t => {
  const policy = { id: 'pol_1', document: limitsOn(16, index => `a.b${index}`) }
  t.match(checkPolicyChain(Array.from({ length: 5 }, () => policy)), { ok: true })
})

t.test('throws a fault for a document that is not a policy', async t => {
  for (const document of [undefined, null, 'x', { dailySpendCap: 1 }]) {
    const read = () => checkPolicyChain([{ id: 'pol_1', document }])
    t.throws(read, { code: 'ERR_STORE_REPLY' })
    t.throws(read, Fault)
  }
})

/** Names with few parts, so that random limits meet. */
const pattern = fc
  .array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 })
  .chain(parts => fc.constantFrom(`t.${parts.join('.')}`, `t.${parts.join('.')}.*`, 't.*', `u.${parts[0]}`))
const limit = fc.record({
  operations: fc.array(pattern, { minLength: 1, maxLength: 4 }),
  window: fc.constantFrom('day', 'month', 'total'),
  maxCount: fc.nat(3),
})
const document = fc.record(
  {
    dailySpendCapCents: fc.nat(9),
    dailyWithdrawalCapCents: fc.nat(9),
    limits: fc.array(limit, { minLength: 4, maxLength: 17 }),
    denyOperations: fc.array(
      fc.nat(99).map(n => `deny.${'x'.repeat(n)}y`),
      { maxLength: 100 },
    ),
  },
  { requiredKeys: [] },
)
const ids = fc.constantFrom(
  's1',
  's2',
  's3',
  `pol_${'k'.repeat(16)}_aaaaaaaa`,
  `pol_${'k'.repeat(16)}_bbbbbbbb`,
)

t.test('whatever is written, an accepted chain stays within every bound', async t => {
  let [accepted, denied] = [0, 0]
  fc.assert(
    fc.property(fc.array(fc.tuple(ids, document), { minLength: 6, maxLength: 24 }), written => {
      let chain: { id: string; document: unknown }[] = []
      for (const [prefix, document] of written) {
        if (!parsePolicy(document).ok) continue
        const id = prefix.startsWith('pol_')
          ? `${prefix.slice(0, -2)}${10 + chain.length}`
          : `${prefix}${chain.length}`
        const longer = [...chain, { id, document }]
        if (checkPolicyChain(longer).ok) chain = longer
        else denied++
      }
      accepted += chain.length
      const bytes = chain.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one.document)), 0)
      const limits = chain.flatMap(one => (one.document as Policy).limits ?? [])
      if (bytes > 32_768 || limits.length > 64) throw new Error(`${bytes} bytes, ${limits.length} limits`)
      const compiled = compiledChain(chain)
      const named = limits.flatMap(({ operations }) => operations.map(one => one.replace('*', 'another')))
      for (const operation of [...named, 't.a', 't.a.b', 't.a.b.b', 'u.a', 'other.one']) {
        for (const kind of ['spend', 'withdrawal', undefined] as const) {
          const counters = compiled.caps([operation], kind).items(1, 0).length
          if (counters > 32) throw new Error(`${operation} adds to ${counters} counters`)
        }
      }
    }),
    { numRuns: randomCases(60) },
  )
  t.ok(accepted > 0 && denied > 0, `both occurred: ${accepted} accepted, ${denied} denied`)
})

t.test('denies a chain for its counters only if a call can add to more than 32', async t => {
  const many = fc.array(
    fc.tuple(fc.constantFrom('s', 't'), fc.array(limit, { minLength: 4, maxLength: 10 })),
    {
      minLength: 6,
      maxLength: 10,
    },
  )
  let [over, within] = [0, 0]
  fc.assert(
    fc.property(many, list => {
      const chain = list.map(([prefix, limits], index) => ({ id: `${prefix}${index}`, document: { limits } }))
      const limits = list.flatMap(([, entries]) => entries)
      fc.pre(limits.length <= 64)
      const compiled = compiledChain(chain)
      const operations = limits.flatMap(entry => entry.operations.map(one => one.replace('*', 'another')))
      const counters = operations.map(one => compiled.caps([one], 'withdrawal').items(1, 0).length)
      const expected = Math.max(0, ...counters) <= 32
      if (expected) within++
      else over++
      if (checkPolicyChain(chain).ok !== expected) throw new Error(`${Math.max(...counters)} counters`)
    }),
    { numRuns: randomCases(100) },
  )
  t.ok(over > 0 && within > 0, `both occurred: ${over} over the bound, ${within} within`)
})

t.test('counts no limits for policies that have none', async t => {
  const limits = Array.from({ length: 16 }, () => ({ operations: ['a.b'], window: 'operation', maxCents: 1 }))
  const full = [1, 2, 3, 4].map(n => ({ id: `p${n}`, document: { limits } }))
  const without = [1, 2, 3].map(n => ({ id: `q${n}`, document: { allowCardSecrets: false } }))
  t.match(checkPolicyChain([...full, ...without]), { ok: true })
  const one = { id: 'r', document: { limits: limits.slice(0, 1) } }
  t.match(checkPolicyChain([...full, one]), { ok: false, field: 'policy' })
})
