import { events } from '@gatewright/host'
import { rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { hostSecrets } from '../../../harness/host-stores.ts'
import type { HttpResponse } from '../../../harness/host.ts'
import * as internals from '../../../harness/internals.ts'
import { newMoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'
import { ask } from '../../harness/paid-host.ts'
import { partnerUser } from '../../harness/partner.ts'
import { addEndpointOf, startReceiver } from '../../harness/webhooks.ts'

const DAY_MS = 86_400_000
const clock = manualClock(Date.now())
const secrets = hostSecrets()
const { host, db, close } = await startOpenHost(clock, secrets)
t.teardown(close)

interface Told {
  readonly type: string
  readonly data: { readonly eventId: string; readonly id: string; readonly number: number }
}
const read = (query = '', key = host.partnerKey): Promise<HttpResponse> =>
  host.send(`/partner/v1/events${query}`, { headers: { 'x-partner-key': key } })
const told = ({ body }: HttpResponse): readonly Told[] => body.data['events'] as Told[]
const publish = (): Promise<void> => host.chore('publish events')

/** Resolves a user of the partner, and returns its account. */
async function accountOf(userId: string): Promise<string> {
  await partnerUser(host, userId, [])
  const [row] = await rows(db, 'select account_id from gw_partner_users where external_id = $1', [userId])
  return String(row?.['account_id'])
}
const record = (accountId: string, id: string, cause = 'tested'): Promise<void> =>
  db.transaction(tx =>
    events.record(
      tx,
      { accountId, subject: { kind: 'deposit', id }, to: 'completed', cause, amountCents: 5 },
      clock.now(),
    ),
  )

/** Reads on from a cursor until there are no more events. */
async function readAll(cursor?: string, limit = 100): Promise<{ all: Told[]; cursor: string }> {
  const all: Told[] = []
  let after = cursor
  for (;;) {
    const page = await read(`?limit=${limit}${after === undefined ? '' : `&after=${after}`}`)
    after = page.body.data['nextCursor'] as string
    if (told(page).length === 0) return { all, cursor: after }
    all.push(...told(page))
  }
}

t.test(
  "tells a partner what happened to its user's objects, under the partner's own id of the user",
  async t => {
    const accountId = await accountOf('ann')
    const { cursor } = await readAll()
    await record(accountId, 'dep_1')
    t.same((await readAll(cursor)).all, [], 'an event is not read before it is published')
    await publish()
    const { all } = await readAll(cursor)
    t.match(all, [
      {
        type: 'deposit.completed',
        timestamp: new Date(clock.now()).toISOString(),
        data: {
          eventId: /^evt_[0-9a-f]{32}$/,
          userId: 'ann',
          object: 'deposit',
          id: 'dep_1',
          number: 1,
          status: 'completed',
          previousStatus: null,
          amountCents: 5,
          currency: 'USD',
        },
      },
    ])
    t.equal(all.length, 1)
  },
)

t.test('pages through the events of many users without gaps or repeats, each object in order', async t => {
  const { cursor } = await readAll()
  const accounts = await Promise.all(['u1', 'u2', 'u3', 'u4', 'u5'].map(accountOf))
  for (let n = 0; n < 8; n += 1) for (const account of accounts) await record(account, `of ${account}`)
  await publish()
  const { all } = await readAll(cursor, 7)
  t.equal(new Set(all.map(({ data }) => data.eventId)).size, 40)
  t.equal(all.length, 40)
  for (const account of accounts)
    t.same(
      all.filter(({ data }) => data.id === `of ${account}`).map(({ data }) => data.number),
      [1, 2, 3, 4, 5, 6, 7, 8],
    )
})

t.test('two hosts that publish at once publish each event once', async t => {
  const { cursor } = await readAll()
  const account = await accountOf('twice')
  for (let n = 0; n < 20; n += 1) await record(account, 'dep_twice')
  await Promise.all([publish(), publish(), publish()])
  await publish()
  t.equal((await readAll(cursor)).all.length, 20)
})

t.test('an event that commits after later ones were read is still read', async t => {
  const account = await accountOf('late')
  const { cursor } = await readAll()
  let commit = (): void => {}
  const committed = new Promise<void>(resolve => (commit = resolve))
  // SQLite runs one transaction at a time, so there the late one ends first.
  const late = db.dialect === 'postgres' ? committed : Promise.resolve()
  const subject = { kind: 'deposit', id: 'dep_late' }
  const writing = db.transaction(async tx => {
    await events.record(tx, { accountId: account, subject, to: 'completed', cause: 'tested' }, clock.now())
    await rows(tx, 'select 1 as one')
    await late
  })
  if (db.dialect === 'postgres') {
    await record(account, 'dep_soon')
    await publish()
  }
  const soon = await readAll(cursor)
  commit()
  await writing
  await record(account, 'dep_next')
  await publish()
  const rest = await readAll(soon.cursor)
  const ids = [...soon.all, ...rest.all].map(({ data }) => data.id)
  t.ok(ids.includes('dep_late'))
  t.ok(ids.includes('dep_next'))
})

t.test('tells nobody the events of wallet users, and a partner nothing of another', async t => {
  const { cursor } = await readAll()
  const insert = `insert into gw_users (id, account_id, partner_id, external_id, principal, kyc_status, created_at)
    values ($1, $2, $3, $4, $5, 'not_submitted', 0)`
  await rows(db, insert, ['usr_w', 'acc_w', null, null, `0x${'1'.repeat(40)}`])
  await rows(db, insert, ['usr_o', 'acc_o', 'ptn_other', 'ann', null])
  await record('acc_w', 'dep_w')
  await record('acc_o', 'dep_o')
  await record('acc_of_nobody', 'dep_n')
  await publish()
  t.same((await readAll(cursor)).all, [])
  t.same(await rows(db, 'select 1 from gw_waiting_events'), [])
})

t.test('an event that was deleted before it was published is left out, and later ones are told', async t => {
  const accountId = await accountOf('late')
  const { cursor } = await readAll()
  await record(accountId, 'dep_deleted')
  await rows(db, "delete from gw_events where subject_id = 'dep_deleted'")
  await record(accountId, 'dep_kept')
  await publish()
  t.same(
    (await readAll(cursor)).all.map(({ data }) => data.id),
    ['dep_kept'],
  )
  t.same(await rows(db, 'select 1 from gw_waiting_events'), [])
})

t.test('tells the operator that a pay-in of a wallet user was paid, and that one has expired', async t => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  await addEndpointOf(db, secrets['DATA_KEYS'], { recipientId: 'operator', url: receiver.url }, clock.now())
  const user = await newMoneyUser(host.send, clock.now())
  const [paid, unpaid] = [await ask(user, { amountCents: 500 }), await ask(user, { amountCents: 700 })]
  await user.write(`/sandbox/payins/${paid.id}/settle`, {})
  clock.advance(DAY_MS)
  await host.chore('expire pay-ins')
  await publish()
  await host.chore('deliver events')
  const told = receiver.received.map(({ body }) => JSON.parse(body) as Told & { data: object })
  t.match(
    told.find(({ type }) => type === 'payin.settled'),
    {
      data: {
        id: paid.id,
        status: 'settled',
        previousStatus: 'awaiting_payment',
        amountCents: 500,
        number: 1,
      },
    },
  )
  t.match(
    told.find(({ type }) => type === 'payin.expired'),
    { data: { id: unpaid.id, status: 'expired', previousStatus: 'awaiting_payment', number: 1 } },
  )
  t.equal(told.filter(({ type }) => /settled|expired/.test(type)).length, 2)
})

t.test('a cursor of events that a restore has lost does not hide new ones', async t => {
  const account = await accountOf('restored')
  const { cursor: backup } = await readAll()
  const lanes = await rows(db, 'select lane, position from gw_event_lanes')
  for (let n = 0; n < 3; n += 1) await record(account, 'dep_lost')
  await publish()
  const { all, cursor } = await readAll(backup)
  t.equal(all.length, 3)
  await rows(db, 'delete from gw_published_events where body like $1 returning 1', ['%dep_lost%'])
  for (const { lane, position } of lanes)
    await rows(db, 'update gw_event_lanes set position = $1 where lane = $2 returning 1', [
      Number(position),
      Number(lane),
    ])
  await internals.skipLostPlaces(db)
  await record(account, 'dep_new')
  await publish()
  t.same(
    (await readAll(cursor)).all.map(({ data }) => data.id),
    ['dep_new'],
  )
})

t.test('denies a malformed cursor, a limit out of bounds, and an unknown key', async t => {
  for (const after of ['1', 'x', '1.2.3', `${'0.'.repeat(15)}99999999999999999`])
    t.match(await read(`?after=${after}`), { status: 400, body: { field: 'after' } }, after)
  for (const limit of [0, 101])
    t.match(await read(`?limit=${limit}`), { status: 400, body: { field: 'limit' } })
  t.match(await read('', 'gw_wrong'), { status: 401 })
})

t.test('keeps what is published for 30 days', async t => {
  const account = await accountOf('old')
  const { cursor } = await readAll()
  await record(account, 'dep_old')
  await publish()
  clock.advance(30 * DAY_MS)
  await host.chore('collect garbage')
  t.equal((await readAll(cursor)).all.length, 1)
  clock.advance(1)
  await host.chore('collect garbage')
  t.equal((await readAll(cursor)).all.length, 0)
  host.failures.splice(0)
})
