import { randomUUID } from 'node:crypto'
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser } from '../../../../harness/host.ts'
import { startOpenHost } from '../../../harness/open-host.ts'

const DAY_MS = 86_400_000
const clock = manualClock(Date.now())
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)

const count = async (table: string, condition = 'true'): Promise<number> =>
  toInteger((await rows(db, `select count(*) as n from ${table} where ${condition}`))[0]?.['n'])
async function makePayin(token: string, path: string, body: object): Promise<{ id: string; key: string }> {
  const key = randomUUID()
  const headers = { ...bearer(token), 'idempotency-key': key }
  const made = await host.send(`/user/v1/subscriptions/${path}`, { body, headers })
  if (made.status !== 200) throw new Error(JSON.stringify(made.body))
  return { id: (made.body.data['payin'] as { id: string }).id, key }
}

t.test(
  'deletes unpaid pay-ins 30 days after their deadline, and their subscriptions that were never paid',
  async t => {
    const { token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
    const fund = {
      body: { amountCents: 5000 },
      headers: { ...bearer(token), 'idempotency-key': randomUUID() },
    }
    t.equal((await host.send('/user/v1/deposits', fund)).status, 200)
    const paid = await makePayin(token, 'checkout', { plan: 'basic' })
    const body = { payinId: paid.id }
    const headers = { ...bearer(token), 'idempotency-key': randomUUID() }
    t.equal((await host.send('/user/v1/subscriptions/payin/confirm-balance', { body, headers })).status, 200)
    await makePayin(token, 'checkout', { plan: 'basic' })
    const unpaid = await makePayin(token, 'payin', { amountCents: 100 })
    const withAddress = await makePayin(token, 'payin', { amountCents: 100 })
    const withTransfer = await makePayin(token, 'payin', { amountCents: 100 })
    await rows(db, 'update gw_payins set own_receiver = 1 where id = $1', [withAddress.id])
    await rows(
      db,
      "update gw_payins set transfer_tx = '0x1', transfer_log = 1, transfer_block = 1, transfer_block_hash = '0x2' where id = $1",
      [withTransfer.id],
    )
    clock.advance(DAY_MS)
    await host.chore('expire pay-ins')
    await rows(db, "update gw_payins set status = 'canceled' where id = $1", [withTransfer.id])
    t.equal(await count('gw_payins', "status = 'expired'"), 3)

    clock.advance(30 * DAY_MS - 1)
    await host.chore('collect garbage')
    t.equal(await count('gw_payins'), 5, 'nothing is deleted a millisecond before')
    clock.advance(1)
    await host.chore('collect garbage')
    const left = (await rows(db, 'select id from gw_payins order by position')).map(row => row['id'])
    t.same(left, [paid.id, withAddress.id, withTransfer.id])
    t.equal(await count('gw_payin_moves', `payin_id = '${unpaid.id}'`), 0)
    t.equal(await count('gw_subscriptions'), 1, 'the subscription that was paid stays')
    t.same(host.failures, [])
  },
)

t.test('deletes more unpaid pay-ins in one round than one batch has', async t => {
  const { token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
  const { id } = await makePayin(token, 'payin', { amountCents: 100 })
  const numbers =
    'with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2500)'
  const columns =
    'account_id, amount_cents, currency, method, moves, properties, hold, created_at, expires_at, due_at'
  await rows(
    db,
    `insert into gw_payins (id, effect_id, status, ${columns})
      ${numbers} select 'copy' || n, 'copy' || n, 'expired', ${columns} from numbers join gw_payins on id = $1`,
    [id],
  )
  clock.advance(31 * DAY_MS)
  await host.chore('collect garbage')
  t.equal(await count('gw_payins', "status = 'expired' and own_receiver = 0"), 0)
  t.same(host.failures, [])
})
