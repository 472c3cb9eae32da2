// A payment that waits for the owner of the account, from the refusal to the payment.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { manualClock, race } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, openTestHost } from '../harness/host.ts'
import { keyBelow } from './harness/card-payments.ts'
import { newMoneyUser } from './harness/money.ts'
import { startOpenHost } from './harness/open-host.ts'

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

t.test('above the sum of a day, payments wait, and what is approved counts there', async t => {
  const limit = { operations: ['payments.*'], window: 'day', approveAboveCents: 10_000 }
  const agent = await keyBelow(send, owner.token, { limits: [limit] })
  t.match(await pay(agent.token), { status: 200 })
  const key = randomUUID()
  const asked = await pay(agent.token, key)
  t.match(asked, {
    status: 403,
    body: {
      error: 'approval_required',
      rule: 'approveAboveCents',
      window: 'day',
      limit: 10_000,
      remaining: 4000,
    },
  })
  t.match(await decide(owner.token, asked.body['approvalId'], 'approve'), { status: 200 })
  t.match(await pay(agent.token, key), { status: 200 })
  t.match(await pay(agent.token, key), { status: 200 }, 'a replay')
  const caps = await send(`/user/v1/keys/${agent.keyId}/caps`, { headers: bearer(owner.token) })
  t.match(caps.body.data['caps'], [{ rule: 'approveAboveCents', cap: 10_000, used: 12_000, remaining: 0 }])
  t.match(await pay(agent.token, randomUUID(), 1), { body: { error: 'approval_required' } })
})

const kinds = async (user: typeof owner): Promise<unknown[]> => {
  const { body } = await user.read('/notifications?limit=100')
  return (body.data['notifications'] as { kind: string }[]).map(({ kind }) => kind)
}

t.test('the audit says who approved and who denied what', async t => {
  const agent = await keyBelow(send, owner.token, policy)
  const asked = [await pay(agent.token), await pay(agent.token)].map(({ body }) => body['approvalId'])
  await decide(owner.token, asked[0], 'approve')
  await decide(owner.token, asked[1], 'deny')
  await decide(owner.token, asked[1], 'deny')
  const { body } = await owner.read('/audit?action=approval.approve,approval.deny&limit=2')
  const by = { by: 'session', keyId: String, sessionId: String }
  t.match(body.data['rows'], [
    {
      ...by,
      action: 'approval.deny',
      target: asked[1],
      text: `denied the payment that waited as ${String(asked[1])}.`,
    },
    { ...by, action: 'approval.approve', target: asked[0] },
  ])
})

t.test('revoking or pausing a key ends what it and the keys below it ask for', async t => {
  for (const end of ['revoke', 'pause'] as const) {
    const user = await newMoneyUser(send)
    await user.fund(100_000)
    const agent = await keyBelow(send, user.token, policy)
    const below = await keyBelow(send, agent.token, {})
    const beside = await keyBelow(send, user.token, policy)
    const asked = []
    for (const { token } of [agent, below, beside]) asked.push((await pay(token)).body['approvalId'])
    await decide(user.token, asked[0], 'approve')
    const ended = await send(`/user/v1/keys/${agent.keyId}${end === 'pause' ? '/pause' : ''}`, {
      method: end === 'pause' ? 'POST' : 'DELETE',
      headers: bearer(user.token),
    })
    t.match(ended, { status: 200 })
    t.equal((await kinds(user)).filter(kind => kind === 'approval.expired').length, 2)
    if (end === 'pause')
      await send(`/user/v1/keys/${agent.keyId}/resume`, { method: 'POST', headers: bearer(user.token) })
    t.same(
      (await waiting(user.token)).map(({ id }) => id),
      [asked[2]],
      'also after it works again',
    )
  }
})

t.test(
  'an approval that expires undecided or unused is reported once, at the instant and not before',
  async t => {
    const clock = manualClock(Date.UTC(2026, 5, 1))
    const { host: timed, close } = await startOpenHost(clock)
    t.teardown(close)
    const user = await newMoneyUser(timed.send, clock.now())
    const payee = await newMoneyUser(timed.send, clock.now())
    await user.fund(100_000)
    const agent = await keyBelow(timed.send, user.token, policy)
    const ask = (key: string) =>
      timed.send('/user/v1/payments', {
        body: { to: { walletAddress: payee.address }, amountCents: 6000 },
        headers: { ...bearer(agent.token), 'idempotency-key': key },
      })
    const judge = (id: unknown, name: string) =>
      timed.send(`/user/v1/approvals/${String(id)}/${name}`, { body: {}, headers: bearer(user.token) })
    const asked = []
    const keys = ['undecided', 'unused', 'denied', 'used'].map(name => `${name}-${randomUUID()}`)
    for (const key of keys) asked.push((await ask(key)).body['approvalId'])
    await judge(asked[1], 'approve')
    await judge(asked[2], 'deny')
    await judge(asked[3], 'approve')
    t.match(await ask(keys[3] as string), { status: 200 })
    const expired = async (): Promise<unknown[]> => {
      await timed.chore('collect garbage')
      const { body } = await user.read('/notifications?limit=100')
      const found = body.data['notifications'] as { kind: string; subject: { id: string }; at: string }[]
      return found.filter(({ kind }) => kind === 'approval.expired')
    }
    clock.advance(3_600_000 - 1)
    t.same(await expired(), [])
    clock.advance(1)
    const at = new Date(clock.now()).toISOString()
    t.equal((await expired()).length, 2)
    t.match(JSON.stringify(await expired()), at)
    t.equal((await expired()).length, 2, 'once')
    t.match(await judge(asked[0], 'approve'), { status: 404 })
  },
)

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
