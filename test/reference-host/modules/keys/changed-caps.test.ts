import t from 'tap'
import { bearer, bootstrapUser, openTestHost, sessionOf } from '../../../harness/host.ts'
import { moneyUser } from '../../harness/money.ts'

const host = await openTestHost(t)

/** A key with this policy, below the key of its owner, who can change it. */
async function newAgent(policy: object) {
  const owner = await bootstrapUser(host.send)
  const { body } = await host.send('/user/v1/keys', { body: { policy }, headers: bearer(owner.token) })
  const { userApiKey: key, userKeyId } = body as unknown as Record<string, string>
  const mint = async () => {
    return await sessionOf(host.send, key as string)
  }
  let token = await mint()
  const change = async (by: string, next: object) => {
    const request = { method: 'PATCH', body: { policy: next }, headers: bearer(by) }
    t.equal((await host.send(`/user/v1/keys/${userKeyId}`, request)).status, 200)
    token = await mint()
  }
  return {
    owner: (next: object) => change(owner.token, next),
    itself: (next: object) => change(token, next),
    spend: (amountCents: number) =>
      moneyUser(host.send, { token }).write('/subscriptions/payin', { amountCents }),
  }
}

const blocked = (remaining: number, rule = 'dailySpendCapCents') => ({
  status: 403,
  body: { error: 'policy_blocked', rule, remaining },
})

t.test('an owner who changes a cap of a key does not reset what was used of it', async t => {
  const agent = await newAgent({ dailySpendCapCents: 1000 })
  t.match(await agent.spend(700), { status: 200 })
  await agent.owner({ dailySpendCapCents: 500 })
  t.match(await agent.spend(1), blocked(0), 'less than what was used')
  await agent.owner({ dailySpendCapCents: 900, maxAuthAmountCents: 900 })
  t.match(await agent.spend(201), blocked(200))
  t.match(await agent.spend(200), { status: 200 })
  await agent.owner({})
  await agent.owner({ dailySpendCapCents: 1000 })
  t.match(await agent.spend(101), blocked(100), 'also when it had no cap in between')
})
