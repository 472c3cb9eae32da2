import type { GuardOptions } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, claims, field, session, sign, signingKey } from './issuer.ts'

const rule = { operation: 'cards.list', allOf: [] }

t.test('accepts each number from its least to its most, and names the option of another', async t => {
  const bounds: Partial<Record<keyof GuardOptions, readonly [least: number, most: number]>> = {
    storeTimeoutMs: [10, 60_000],
    clockToleranceSeconds: [0, 60],
    maxTokenBytes: [256, 16_384],
    cacheBytes: [2 ** 16, 2 ** 40],
    policyCacheBytes: [2 ** 19, 2 ** 40],
    cacheSeconds: [1, 3600],
  }
  for (const [option, [least, most]] of Object.entries(bounds)) {
    for (const value of [least, most]) await t.resolves(bench({ [option]: value }), `${option} ${value}`)
    for (const value of [least - 1, most + 1, least + 0.5, `${least}`])
      await t.rejects(bench({ [option]: value }), {
        name: 'TypeError',
        message: `createGuard: ${option} must be an integer from ${least} to ${most}`,
      })
  }
})

t.test('rejects an option that it does not know, also of a limit and of failed credentials', async t => {
  const limit = { name: 'perKey', points: 1, windowSeconds: 60, per: 'key', point: 1 } as const
  for (const [options, name] of [
    [{ cacheSecond: 1 }, 'cacheSecond'],
    [{ limits: [limit] }, 'point'],
    [{ failedCredentials: { pointz: 1 } }, 'pointz'],
  ] as const)
    await t.rejects(bench(options as never), { name: 'TypeError', message: new RegExp(`"${name}"`) })
  await t.rejects(bench({ limits: {} as never }), /limits must be an array, not object/)
  for (const keys of ['https://issuer.test/jwks', null])
    await t.rejects(bench({ keys: keys as never }), TypeError)
  for (const name of ['issuer', 'audience', 'typ'])
    for (const value of ['', 7])
      await t.rejects(bench({ [name]: value }), new RegExp(`${name} must be a non-empty string`))
  await t.resolves(bench({ failedCredentials: 'off' }))
})

t.test('by default limits a key to 600 requests a minute', async t => {
  const key = await signingKey()
  const { guard, clock } = await bench({ keys: async () => key.jwk, limits: undefined as never })
  const authorization = `Bearer ${await sign(key, claims(session(clock.now())))}`
  const verdict = await guard.check({ authorization }, rule)
  t.match(verdict, { ok: true })
  if (verdict.ok)
    t.equal(field(verdict.value.headers, 'RateLimit-Policy'), '"guardedPerKeyPerMinute";q=600;w=60')
})

t.test('by default accepts tokens of 4,096 bytes that were issued up to 5 s in the future', async t => {
  const { guard, bearer, clock } = await bench()
  const check = async (authorization: string): Promise<unknown> => {
    const verdict = await guard.check({ authorization }, rule)
    return verdict.ok || verdict.reason
  }
  const now = clock.now()
  t.equal(await check(await bearer({ issuedAt: now + 5000 })), true)
  t.equal(await check(await bearer({ issuedAt: now + 6000 })), 'issued in the future')
  t.equal(await check(`Bearer ${'x'.repeat(4096)}`), 'not a canonical compact JWS')
  t.equal(await check(`Bearer ${'x'.repeat(4097)}`), 'token too long')
})

t.test('by default verifies a token again after 60 s, and has no rates and no policies', async t => {
  let keys = 0
  const key = await signingKey()
  const { guard, clock } = await bench({
    keys: async () => {
      keys++
      return key.jwk
    },
    spend: memorySpends(),
  })
  const authorization = `Bearer ${await sign(key, claims(session(clock.now())))}`
  for (const [ms, lookups] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
  ] as const) {
    clock.advance(ms)
    t.match(await guard.check({ authorization }, rule), { ok: true })
    t.equal(keys, lookups)
  }
  const policy = { id: 'p', document: { maxAuthAmountCents: 5 } }
  const access = guard.checkPolicies('acc_1', [policy], { ...rule, spends: 'spend' })
  if (!access.ok) return t.fail(access.code)
  t.match(await guard.reserve(access.value, { amountCents: 1, currency: 'EUR' }), {
    details: { rule: 'currency' },
  })
  const holder = session(clock.now(), { policyIds: ['p'] })
  await t.rejects(guard.authorize(holder, { authorization: undefined }, rule), { code: 'ERR_STORE_REPLY' })
})

t.test('waits two seconds for a store by default, and leaves no timer behind', async t => {
  const timers: { readonly ms: unknown; cleared: boolean }[] = []
  const { setTimeout, clearTimeout } = globalThis
  const { guard, bearer } = await bench({ revocation: { mode: 'strict', isLive: async () => true } })
  const authorization = await bearer()
  globalThis.setTimeout = ((_run: () => void, ms: number) => {
    const timer = { ms, cleared: false }
    timers.push(timer)
    return timer
  }) as never
  globalThis.clearTimeout = timer => {
    if (timer) (timer as unknown as { cleared: boolean }).cleared = true
  }
  t.teardown(() => Object.assign(globalThis, { setTimeout, clearTimeout }))
  t.match(await guard.check({ authorization }, rule), { ok: true })
  t.same(timers, [{ ms: 2000, cleared: true }])
})
