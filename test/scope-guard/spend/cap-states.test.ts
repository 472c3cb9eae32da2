import { Fault } from '@gatewright/kernel'
import type { SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, session } from '../issuer.ts'
import { spender } from './spender.ts'

const policy = {
  maxAuthAmountCents: 5000,
  dailySpendCapCents: 8000,
  limits: [
    { operations: ['cards.*'], maxCount: 3, window: 'month' },
    { operations: ['payments.create'], maxCents: 9000, window: 'total' },
  ],
}
const rule = { operation: 'payments.create', allOf: [], spends: 'spend' } as const

t.test('lists each cap with what is used, what of it is held, what remains and when it resets', async t => {
  const { guard, clock, bearer } = await bench({ policies: async () => [policy], spend: memorySpends() })
  const access = await guard.check({ authorization: await bearer({ policyIds: ['p'] }) }, rule)
  if (!access.ok) throw new Error(access.code)
  const hold = await guard.reserve(access.value, { amountCents: 3000, currency: 'USD' })
  if (!hold.ok) throw new Error(hold.code)
  const caller = access.value.session
  const day = Math.floor(clock.now() / 86_400_000) * 86_400_000
  const about = { policyId: 'p', unit: 'cents', operations: undefined }
  t.match(await guard.caps(caller), [
    {
      ...about,
      rule: 'dailySpendCapCents',
      window: 'day',
      cap: 8000,
      used: 3000,
      held: 3000,
      remaining: 5000,
      resetsAt: day + 86_400_000,
    },
    {
      policyId: 'p',
      rule: 'limits',
      operations: ['payments.create'],
      unit: 'cents',
      window: 'total',
      cap: 9000,
      used: 3000,
      held: 3000,
      remaining: 6000,
      resetsAt: null,
    },
    {
      policyId: 'p',
      rule: 'limits',
      operations: ['cards.*'],
      unit: 'count',
      window: 'month',
      cap: 3,
      used: 0,
      held: 0,
      remaining: 3,
    },
    {
      ...about,
      rule: 'maxAuthAmountCents',
      window: 'operation',
      cap: 5000,
      used: 0,
      held: 0,
      remaining: 5000,
      resetsAt: null,
    },
  ])
  await guard.settle(hold.value, 1000)
  t.match(
    (await guard.caps(caller))[0],
    { used: 1000, held: 0, remaining: 7000 },
    'a settlement gives back the rest',
  )
  clock.advance(86_400_000)
  t.match((await guard.caps(caller))[0], { used: 0, remaining: 8000 }, 'the next day starts at 0')
})

t.test(
  'a session without policies has no caps, and a host without a store says that counted caps block',
  async t => {
    const { guard, clock } = await bench({ policies: async ids => ids.map(() => policy) })
    t.same(await guard.caps(session(clock.now())), [])
    const [daily] = await guard.caps(session(clock.now(), { policyIds: ['p'] }))
    t.match(daily, { rule: 'dailySpendCapCents', used: undefined, remaining: 0 })
  },
)

t.test('a store that fails is a fault', async t => {
  const down = async (): Promise<never> => {
    throw new Error('down')
  }
  const spend: SpendStorage = { ...memorySpends(), usage: down }
  const { guard, clock } = await bench({ policies: async () => [policy], spend })
  await t.rejects(guard.caps(session(clock.now(), { policyIds: ['p'] })), Fault)
})

t.test('shows one counted cap alone, with nothing left when it is used up', async t => {
  const { guard, access, hold } = await spender({ dailySpendCapCents: 1 }, { spend: memorySpends() })
  t.match(await guard.caps(access.session), [{ used: 0, held: 0, remaining: 1 }])
  await hold(1)
  t.match(await guard.caps(access.session), [{ used: 1, held: 1, remaining: 0 }])
})

t.test('reads no store for caps on single calls', async t => {
  const usage = async (): Promise<never> => {
    throw new Error('the store was read')
  }
  const { guard, access } = await spender({ maxAuthAmountCents: 5 }, { spend: { ...memorySpends(), usage } })
  t.match(await guard.caps(access.session), [{ rule: 'maxAuthAmountCents', used: 0, remaining: 5 }])
})
