import { localKeys, type GuardOptions } from '@gatewright/scope-guard'
import type { Chain } from '#packages/scope-guard/dist/policies/chain.js'
import t from 'tap'
import { collectGarbage } from '../../harness/collect-garbage.ts'
import { bench, claims, session, sign, signingKey } from '../issuer.ts'

const rule = { operation: 'a.b', allOf: [] } as const
const HALF_MIB = 2 ** 19

let serial = 0
/** The policy that compiles to the most memory of those that may be written: as many operations as fit, all different. */
function heaviest(): object {
  const limits = Array.from({ length: 16 }, () => ({
    operations: [] as string[],
    window: 'day',
    maxCount: 9,
  }))
  let bytes = JSON.stringify({ limits }).length
  for (let n = 0; ; n++) {
    const operation = `x${(serial++).toString(36)}.y`
    bytes += operation.length + 3
    if (bytes > 8192) return { limits }
    limits[n % 16]?.operations.push(operation)
  }
}
const LIGHT = { denyOperations: ['withdrawals.*'] }

/** A guard whose sessions have the given policies, that counts how often it read them. */
async function guarded(
  documents: (sessionId: string) => readonly object[],
  options: Partial<GuardOptions> = {},
) {
  const key = await signingKey()
  let reads = 0
  const made = await bench({
    keys: localKeys({ keys: [key.jwk] }),
    policies: async ids => {
      reads++
      const [id = ''] = ids
      return documents(id.slice(0, id.lastIndexOf('_')))
    },
    failedCredentials: 'off',
    ...options,
  })
  const tokenOf = (sessionId: string, count: number): Promise<string> => {
    const policyIds = Array.from({ length: count }, (_, index) => `${sessionId}_${index}`)
    return sign(key, claims(session(made.clock.now(), { sessionId, policyIds })))
  }
  const chainOf = async (token: string): Promise<Chain> => {
    const access = await made.guard.check({ authorization: `Bearer ${token}` }, rule)
    if (!access.ok) throw new Error(access.message)
    return access.value.chain
  }
  return { ...made, tokenOf, chainOf, reads: () => reads }
}

t.test('compiles the policies of a cached token once', async t => {
  const { tokenOf, chainOf, reads } = await guarded(() => [LIGHT])
  const token = await tokenOf('s', 1)
  const chain = await chainOf(token)
  for (let n = 0; n < 3; n++) t.equal(await chainOf(token), chain)
  t.equal(reads(), 1)
})

t.test(
  'evicts chains beyond policyCacheBytes, reads them again, and a cached token does not hold them',
  async t => {
    const { tokenOf, chainOf, reads } = await guarded(() => Array.from({ length: 4 }, heaviest), {
      policyCacheBytes: HALF_MIB,
    })
    const tokens = await Promise.all(Array.from({ length: 8 }, (_, index) => tokenOf(`s${index}`, 4)))
    const held: WeakRef<Chain>[] = []
    for (const token of tokens) held.push(new WeakRef(await chainOf(token)))
    t.equal(reads(), 8)
    await new Promise(setImmediate)
    collectGarbage()
    const alive = held.filter(ref => ref.deref() !== undefined).length
    t.ok(alive <= 2, `${alive} chains of 8 are in memory`)
    await chainOf(tokens[0] as string)
    t.equal(reads(), 9)
  },
)

t.test('the heaviest chain that may be written fits into the least policyCacheBytes', async t => {
  const chain = Array.from({ length: 4 }, heaviest)
  const { tokenOf, chainOf, reads } = await guarded(() => chain, { policyCacheBytes: HALF_MIB })
  const token = await tokenOf('s', 4)
  await chainOf(token)
  await chainOf(token)
  t.equal(reads(), 1)
})

t.test('denies and allows by a chain that is larger than the whole cache', async t => {
  const stored = Array.from({ length: 16 }, () => {
    const limits = Array.from({ length: 100 }, () => ({
      operations: Array.from({ length: 20 }, () => `x${(serial++).toString(36)}.y`),
      window: 'day',
      maxCount: 9,
    }))
    return { limits, denyOperations: ['a.c'] }
  })
  const { guard, tokenOf } = await guarded(() => stored, { policyCacheBytes: HALF_MIB })
  const authorization = `Bearer ${await tokenOf('s', 16)}`
  for (let n = 0; n < 2; n++) {
    t.match(await guard.check({ authorization }, rule), { ok: true })
    const denied = await guard.check({ authorization }, { ...rule, operation: 'a.c' })
    t.match(denied, { ok: false, details: { rule: 'denyOperations' } })
  }
})

t.test('removes a chain that was not loaded for twice cacheSeconds when another is cached', async t => {
  const { tokenOf, chainOf, clock } = await guarded(() => [{ ...LIGHT, maxAuthAmountCents: serial++ }])
  const first = new WeakRef(await chainOf(await tokenOf('first', 1)))
  const isHeld = async (): Promise<boolean> => {
    await new Promise(setImmediate)
    collectGarbage()
    return first.deref() !== undefined
  }
  clock.advance(119_999)
  await chainOf(await tokenOf('second', 1))
  t.equal(await isHeld(), true)
  clock.advance(1)
  await chainOf(await tokenOf('third', 1))
  t.equal(await isHeld(), false)
})

t.test('keeps a chain for twice cacheSeconds after it was last compiled', async t => {
  const { guard, clock } = await guarded(() => [])
  const compiled = (id: string): Chain => {
    const access = guard.checkPolicies('acc', [{ id, document: LIGHT }], rule)
    if (!access.ok) throw new Error(access.message)
    return access.value.chain
  }
  const first = compiled('first')
  clock.advance(100_000)
  t.equal(compiled('first'), first)
  clock.advance(119_999)
  compiled('second')
  t.equal(compiled('first'), first)
  clock.advance(120_000)
  compiled('third')
  t.not(compiled('first'), first)
})

t.test('evicts the chain that was used least recently, also when it was used by cached tokens', async t => {
  const pairs = Object.fromEntries(['a', 'b', 'c'].map(name => [name, [heaviest(), heaviest()]]))
  const { tokenOf, chainOf } = await guarded(name => pairs[name] as object[], {
    policyCacheBytes: HALF_MIB,
  })
  const [a, b, c] = [await tokenOf('a', 2), await tokenOf('b', 2), await tokenOf('c', 2)]
  const [first, second] = [await chainOf(a), await chainOf(b)]
  t.equal(await chainOf(a), first, 'used again')
  await chainOf(c)
  t.equal(await chainOf(a), first)
  t.not(await chainOf(b), second)
})

/** The growth of the heap by a piece of work. */
async function heapGrowth(work: () => Promise<void>): Promise<number> {
  const used = async (): Promise<number> => {
    for (let n = 0; n < 3; n++) {
      await new Promise(setImmediate)
      collectGarbage()
    }
    return process.memoryUsage().heapUsed
  }
  const before = await used()
  await work()
  return (await used()) - before
}

t.test('weighs chains as what they take: heavy and light ones stay within policyCacheBytes', async t => {
  const bytes = 2 ** 22
  const small = () => [{ limits: [{ operations: ['a.c'], window: 'day', maxCount: serial++ }] }]
  const caps = () =>
    Array.from({ length: 15 }, () => ({ dailySpendCapCents: serial++, dailyWithdrawalCapCents: 1 }))
  const shapes = { heavy: () => Array.from({ length: 4 }, heaviest), small, caps }
  for (const [name, make] of Object.entries(shapes)) {
    const { guard } = await guarded(() => [], { policyCacheBytes: bytes })
    const operations = Array.from({ length: 200 }, (_, index) => `tag${index}.verb`)
    const grown = await heapGrowth(async () => {
      for (let chain = 0; chain < (name === 'heavy' ? 30 : 2000); chain++) {
        const policies = make().map((document, index) => ({ id: `${name}${chain}_${index}`, document }))
        const access = guard.checkPolicies('acc', policies, rule)
        if (!access.ok) throw new Error(access.message)
        if (chain % 50 !== 0) continue
        // Neither what is selected nor what is remembered may grow with the operations of the host.
        for (const operation of operations) access.value.chain.caps([operation], 'spend')
      }
    })
    t.ok(grown < bytes * 1.1, `${name}: ${(grown / 2 ** 20).toFixed(1)} MiB of 4`)
    t.ok(
      grown > bytes / 4,
      `${name}: the estimate is not far too large: ${(grown / 2 ** 20).toFixed(1)} MiB of 4`,
    )
    t.match(guard.checkPolicies('acc', [], rule), { ok: true }, 'the guard is in use until here')
  }
})

t.test('remembers the operations of a chain up to a bound, and decides the same beyond it', async t => {
  const { guard } = await guarded(() => [])
  const policies = [{ id: 'p', document: { denyOperations: ['deny.*'] } }]
  const blocked = (operation: string) => !guard.checkPolicies('acc', policies, { ...rule, operation }).ok
  const all = Array.from({ length: 300 }, (_, n) => [blocked(`deny.verb${n}`), blocked(`allow.verb${n}`)])
  t.same(new Set(all.map(String)), new Set(['true,false']))
  t.equal(blocked('deny.verb0'), true)
})

t.test('a source that returns another number of documents, or no list, is a fault', async t => {
  for (const documents of [[], [LIGHT, LIGHT], 'ab', { length: 1, 0: LIGHT }, undefined]) {
    const { guard, clock } = await bench({ policies: async () => documents as never })
    const holder = session(clock.now(), { policyIds: ['p'] })
    const denied = guard.authorize(holder, { authorization: undefined }, rule)
    await t.rejects(denied, { code: 'ERR_STORE_REPLY' }, JSON.stringify(documents) ?? 'undefined')
  }
})
