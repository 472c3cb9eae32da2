// A session gains nothing from a card that is bound by less than the session is, whatever way it takes to the card.
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { cardUser, keyBelow } from '../../harness/card-payments.ts'
import { revealed, sessionOwner, userOwner, type CardOwner } from '../../harness/cards.ts'
import { openTestHost, sessionOf } from '../../../harness/host.ts'
import { sampleOf } from '../../../harness/random-cases.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)

const ABOVE = { status: 403, body: { error: 'policy_blocked', rule: 'card_above_caller' } }
const LIMIT = { limit: { amount: 10 } }
type User = Awaited<ReturnType<typeof userOwner>>

const newUser = (): Promise<User> => userOwner(host, {}, clock.now())

/** A session of a new key below the owner's key. */
async function agent(owner: User, policy: object): Promise<CardOwner & { keyId: string; token: string }> {
  const { keyId, token } = await keyBelow(host.send, owner.token, policy)
  return Object.assign(sessionOwner(host, token), { keyId, token })
}

/** A session of the owner's key that brings a policy. */
async function sessionWith(key: string, policy: object): Promise<CardOwner & { token: string }> {
  const token = await sessionOf(host.send, key, { policy })
  return Object.assign(sessionOwner(host, token), { token })
}

/** Tries every way in which a session can gain from a card. Returns the names of those that were allowed. */
async function waysToGain(caller: CardOwner, cardId: string): Promise<readonly string[]> {
  const change = (body: object) => caller.call(`/cards/${cardId}`, { method: 'PATCH', body })
  const locked = async () => {
    const status = (await change({ status: 'locked' })).status
    if (status !== 200) throw new Error(`locking is always allowed, not ${status}`)
    return change({ status: 'active' })
  }
  const ways: readonly (readonly [string, () => Promise<{ readonly status: number }>])[] = [
    ['reveal', async () => (await revealed(caller, cardId)).response],
    ['raise the limit', () => change({ limit: { amount: 1000 } })],
    ['remove the limit', () => change({ limit: null })],
    ['change the period', () => change({ limit: { amount: 1, frequency: 'perAuthorization' } })],
    ['unlock', locked],
  ]
  const allowed = []
  for (const [name, way] of ways) {
    const { status } = await way()
    if (status !== 200 && status !== 403) throw new Error(`${name}: ${status}`)
    if (status === 200) allowed.push(name)
  }
  return allowed
}

const ALL = ['reveal', 'raise the limit', 'remove the limit', 'change the period', 'unlock']

t.test(
  'an agent gains nothing from the cards of agents whose keys have policies of equal content',
  async t => {
    const owner = await newUser()
    await cardUser(host.send, owner.token).fund(100_000)
    const agents = []
    for (let n = 0; n < 5; n += 1) agents.push(await agent(owner, { dailySpendCapCents: 1000 }))
    const [first] = agents as [(typeof agents)[number]]
    let spent = 0
    for (const each of agents) {
      const id = each.idOf(await each.make(LIMIT))
      const own = each === first
      t.same(await waysToGain(first, id), own ? ALL : [])
      if (!own) t.match((await revealed(first, id)).response, ABOVE)
      const reveals = (await revealed(first, id)).response.status === 200
      await owner.call(`/cards/${id}`, { method: 'PATCH', body: { status: 'active', limit: null } })
      const paid = await cardUser(host.send, owner.token).pay(id, { amountCents: 1000 })
      t.equal(paid.status, 'authorized', 'every agent has a cap of its own')
      if (reveals) spent += paid.amountCents
    }
    t.equal(spent, 1000, 'what the first agent can spend in a day')
  },
)

const soon = (ms: number): string => new Date(clock.now() + ms).toISOString()
const BINDING: readonly object[] = [
  { maxAuthAmountCents: 500 },
  { dailySpendCapCents: 500 },
  { limits: [{ operations: ['cards.*'], window: 'day', maxCents: 500 }] },
  { limits: [{ operations: ['cards.authorize'], window: 'total', maxCount: 3 }] },
  { limits: [{ operations: ['cards.authorize'], window: 'operation', maxCents: 3 }] },
  { denyOperations: ['cards.authorize'] },
  { allowOperations: ['cards.create', 'cards.change', 'cards.reveal', 'cards.openSecrets', 'sessions.*'] },
  { notAfter: soon(3_600_000) },
  { notBefore: soon(-3_600_000) },
]
const FREE: readonly object[] = [
  { dailyWithdrawalCapCents: 1 },
  { allowedIps: ['0.0.0.0/0', '::/0'] },
  { allowCardSecrets: true },
  { denyOperations: ['bills.*', 'cards.cancel'] },
  { allowOperations: ['cards.*', 'sessions.*'] },
  { limits: [{ operations: ['bills.pay'], window: 'day', maxCents: 1 }] },
]

/** Checks that a caller may reveal and loosen a card of its own, and whether it may those of the owner. */
async function gains(t: Test, caller: CardOwner, owner: User, fromOthers: boolean): Promise<void> {
  for (const [maker, allowed] of [
    [caller, true],
    [owner, fromOthers],
  ] as const) {
    const id = maker.idOf(await maker.make(LIMIT))
    t.match((await revealed(caller, id)).response, allowed ? { status: 200 } : ABOVE)
    const loosened = await caller.call(`/cards/${id}`, { method: 'PATCH', body: { limit: null } })
    t.match(loosened, allowed ? { status: 200 } : ABOVE)
  }
}

for (const policy of sampleOf(BINDING)) {
  void t.test(`every member that binds a payment binds like a cap: ${JSON.stringify(policy)}`, async t => {
    const owner = await newUser()
    await gains(t, await agent(owner, policy), owner, false)
    await gains(t, await sessionWith(owner.key, policy), owner, false)
  })
}

for (const policy of sampleOf(FREE)) {
  void t.test(`a member that binds no payment keeps no card away: ${JSON.stringify(policy)}`, async t => {
    const owner = await newUser()
    await gains(t, await agent(owner, policy), owner, true)
    await gains(t, await sessionWith(owner.key, policy), owner, true)
  })
}

t.test('sessions of one key with equal policies use each other’s cards, and share what is left', async t => {
  const owner = await newUser()
  const user = cardUser(host.send, owner.token)
  await user.fund(100_000)
  const one = await sessionWith(owner.key, {
    dailySpendCapCents: 1000,
    denyOperations: ['keys.*', 'bills.*'],
  })
  const two = await sessionWith(owner.key, {
    denyOperations: ['bills.*', 'keys.*'],
    dailySpendCapCents: 1000,
  })
  const [first, second] = [one.idOf(await one.make(LIMIT)), two.idOf(await two.make(LIMIT))]
  t.same(await waysToGain(two, first), ALL)
  t.same(await waysToGain(one, second), ALL)
  for (const id of [first, second])
    await owner.call(`/cards/${id}`, { method: 'PATCH', body: { limit: null } })
  t.match(await user.pay(first, { amountCents: 600 }), { status: 'authorized' })
  t.match(await user.pay(second, { amountCents: 401 }), {
    declineReason: 'policy_blocked',
    declineRule: 'dailySpendCapCents',
  })
  t.match(await user.pay(second, { amountCents: 400 }), { status: 'authorized' })
  t.match(await user.pay(first, { amountCents: 1 }), { declineReason: 'policy_blocked' })
  const other = await sessionWith(owner.key, {
    dailySpendCapCents: 999,
    denyOperations: ['keys.*', 'bills.*'],
  })
  await owner.call(`/cards/${first}`, { method: 'PATCH', body: LIMIT })
  t.same(await waysToGain(other, first), [], 'another cap is another policy')
})

t.test('a session of another key gains nothing from a card of a session with an equal policy', async t => {
  const owner = await newUser()
  const policy = { dailySpendCapCents: 1000 }
  const one = await sessionWith(owner.key, policy)
  const id = one.idOf(await one.make(LIMIT))
  const made = await owner.call('/keys', { body: {} })
  const other = await sessionWith(made.body['userApiKey'] as string, policy)
  t.same(await waysToGain(other, id), [])
  t.same(await waysToGain(one, id), ALL)
})

t.test('a policy of the key is no policy that the session brought: equal content is not enough', async t => {
  const owner = await newUser()
  const policy = { dailySpendCapCents: 1000 }
  const capped = await agent(owner, policy)
  const brought = await sessionWith(owner.key, policy)
  t.same(await waysToGain(capped, brought.idOf(await brought.make(LIMIT))), [])
  t.same(await waysToGain(brought, capped.idOf(await capped.make(LIMIT))), [])
})

t.test(
  'a card keeps the caps of its ended key, so a key that is tightened later gains nothing from it',
  async t => {
    const owner = await newUser()
    const made = await owner.call('/keys', { body: { policy: { dailySpendCapCents: 1000 } } })
    const { userApiKey, userKeyId } = made.body as unknown as { userApiKey: string; userKeyId: string }
    const parent = async (): Promise<CardOwner & { token: string }> => {
      const token = await sessionOf(host.send, userApiKey)
      return Object.assign(sessionOwner(host, token), { token })
    }
    const replace = async (dailySpendCapCents: number): Promise<void> => {
      const body = { policy: { dailySpendCapCents } }
      const changed = await owner.call(`/keys/${userKeyId}`, { method: 'PATCH', body })
      t.equal(changed.status, 200)
    }
    const maker = await agent({ ...owner, ...(await parent()) }, {})
    const id = maker.idOf(await maker.make(LIMIT))
    const gained = async (): Promise<readonly string[]> => {
      await owner.call(`/cards/${id}`, { method: 'PATCH', body: LIMIT })
      return waysToGain(await parent(), id)
    }
    t.same(await gained(), ALL, 'a key below')
    t.equal((await owner.call(`/keys/${maker.keyId}`, { method: 'DELETE' })).status, 200)
    t.same(await gained(), ALL, 'an ended key below')
    await replace(999)
    t.same(await gained(), [], 'the card has the cap of before')
    await replace(1000)
    t.same(await gained(), ALL, 'the changed policy counts on the same counter')
  },
)

t.test('a disposable card is bound by the session that executes its proposal', async t => {
  const owner = await newUser()
  const capped = await agent(owner, { dailySpendCapCents: 1000 })
  const proposed = await owner.call('/cards/disposable/proposals', { body: { amountCents: 2500 } })
  const { proposalId } = proposed.body.data['disposable'] as { proposalId: string }
  const executed = await capped.call('/cards/disposable/execute', { body: { proposalId } })
  const id = capped.idOf(capped.cardOf(executed))
  t.same(await waysToGain(capped, id), ALL)
  await cardUser(host.send, owner.token).fund(100_000)
  await owner.call(`/cards/${id}`, { method: 'PATCH', body: { limit: null } })
  t.match(await cardUser(host.send, owner.token).pay(id, { amountCents: 1001 }), {
    declineReason: 'policy_blocked',
    declineRule: 'dailySpendCapCents',
  })
})
