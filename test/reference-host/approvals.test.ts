// A payment that waits for the owner of the account, from the refusal to the payment.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { race } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, openTestHost } from '../harness/host.ts'
import { keyBelow } from './harness/card-payments.ts'
import { newMoneyUser } from './harness/money.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { send } = host
const owner = await newMoneyUser(send)
const shop = await newMoneyUser(send)
await owner.fund(100_000)
const policy = { approveAboveCents: 5000 }

const pay = (token: string, key: string = randomUUID(), amountCents = 6000) =>
  send('/user/v1/payments', {
    body: { to: { walletAddress: shop.address }, amountCents },
    headers: { ...bearer(token), 'idempotency-key': key },
  })
const decide = (token: string, id: unknown, name: 'approve' | 'deny') =>
  send(`/user/v1/approvals/${String(id)}/${name}`, { body: {}, headers: bearer(token) })
const waiting = async (token: string): Promise<readonly { id: string }[]> => {
  const { body } = await send('/user/v1/approvals', { headers: bearer(token) })
  return body.data['approvals'] as { id: string }[]
}

t.test('an agent asks, its owner approves, and the same request pays once', async t => {
  const agent = await keyBelow(send, owner.token, policy)
  t.match(await pay(agent.token, randomUUID(), 5000), { status: 200 })
  const caps = await send(`/user/v1/keys/${agent.keyId}/caps`, { headers: bearer(owner.token) })
  t.match(caps, { status: 200, body: { data: { caps: [{ rule: 'approveAboveCents', cap: 5000 }] } } })
  const key = randomUUID()
  const asked = await pay(agent.token, key)
  const id = asked.body['approvalId']
  t.match(asked, {
    status: 403,
    body: {
      error: 'approval_required',
      rule: 'approveAboveCents',
      keyId: agent.keyId,
      operation: 'payments.create',
      amountCents: 6000,
      approveUrl: /^http:.*\/helper#\/approvals$/,
      expiresAt: String,
    },
  })
  t.match(await pay(agent.token, key), { body: { approvalId: id } })
  t.match(await waiting(owner.token), [{ id, state: 'pending', keyId: agent.keyId }])
  t.match(await decide(owner.token, id, 'approve'), {
    status: 200,
    body: { data: { approval: { state: 'approved' } } },
  })
  t.match(await pay(agent.token, key), { status: 200 })
  t.match(await pay(agent.token, key), { status: 200 }, 'a replay')
  t.match(await pay(agent.token), { status: 403, body: { error: 'approval_required' } })
  t.notMatch(await waiting(owner.token), [{ id }])
  const { body } = await owner.read('/notifications')
  t.match(JSON.stringify(body), /Payment waits for you.*|Payment approved/)
})

t.test('neither the key that asks, nor one below it, nor one beside it decides', async t => {
  const agent = await keyBelow(send, owner.token, policy)
  const beside = await keyBelow(send, owner.token, {})
  const below = await keyBelow(send, agent.token, {})
  const { body } = await pay(agent.token)
  for (const { token } of [agent, beside, below]) {
    t.match(await decide(token, body['approvalId'], 'approve'), { status: 404 })
    t.same(await waiting(token), [])
  }
  t.match(await decide(owner.token, 'apr_unknown', 'approve'), { status: 404 })
  t.match(await decide(shop.token, body['approvalId'], 'approve'), { status: 404 }, 'another account')
})

t.test('a key that must ask itself cannot let a key below it pay instead', async t => {
  const agent = await keyBelow(send, owner.token, policy)
  const below = await keyBelow(send, agent.token, {})
  const { body } = await pay(below.token)
  t.match(body, { error: 'approval_required', keyId: agent.keyId })
  t.match(await decide(agent.token, body['approvalId'], 'approve'), { status: 404 })
  t.match(await decide(owner.token, body['approvalId'], 'approve'), { status: 200 })
})

t.test('of simultaneous decisions one counts, and a denied payment says so', async t => {
  const agent = await keyBelow(send, owner.token, policy)
  const key = randomUUID()
  const { body } = await pay(agent.token, key)
  const results = await race(4, index =>
    decide(owner.token, body['approvalId'], index % 2 ? 'approve' : 'deny'),
  )
  const approved = results[1]?.status === 200
  for (const [index, { status }] of results.entries())
    t.ok((status === 200) === (approved === (index % 2 === 1)), `${index}: ${status}`)
  t.match(await pay(agent.token, key), approved ? { status: 200 } : { body: { error: 'approval_denied' } })
})

t.test('a key that is revoked meanwhile neither pays nor is decided about', async t => {
  const agent = await keyBelow(send, owner.token, policy)
  const key = randomUUID()
  const { body } = await pay(agent.token, key)
  const revoked = await send(`/user/v1/keys/${agent.keyId}`, {
    method: 'PATCH',
    body: { revoke: true },
    headers: bearer(owner.token),
  })
  t.match(revoked, { status: 200 })
  t.match(await decide(owner.token, body['approvalId'], 'approve'), { status: 404 })
  const { status } = await pay(agent.token, key)
  t.ok(status === 401 || status === 403, 'before the guard knows of the revocation, it is not approved')
})

t.test(
  'what was approved for a key is worth nothing once the key is revoked, also for its successor',
  async t => {
    for (const end of ['revoke', 'rotate'] as const) {
      const agent = await keyBelow(send, owner.token, policy)
      const key = randomUUID()
      const { body } = await pay(agent.token, key)
      t.match(await decide(owner.token, body['approvalId'], 'approve'), { status: 200 })
      const ended = await send(
        `/user/v1/keys/${agent.keyId}/${end === 'rotate' ? end : ''}`.replace(/\/$/, ''),
        {
          method: end === 'rotate' ? 'POST' : 'DELETE',
          ...(end === 'rotate' ? { body: { overlapSeconds: 0 } } : {}),
          headers: bearer(owner.token),
        },
      )
      t.match(ended, { status: 200 })
      // Guards know within a second.
      while ((await send('/user/v1/identity', { headers: bearer(agent.token) })).status !== 401)
        await sleep(50)
      t.match(await pay(agent.token, key), { status: 401 }, end)
      t.notMatch(await waiting(owner.token), [{ id: body['approvalId'] }])
    }
  },
)
