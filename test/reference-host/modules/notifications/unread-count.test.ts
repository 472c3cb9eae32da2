import t from 'tap'
import { openDatabaseOf } from '../../../harness/database-rows.ts'
import { keptHostStoresEnv } from '../../../harness/host-stores.ts'
import { bearer, bootstrapUser, openTestHost } from '../../../harness/host.ts'
import { cardUser } from '../../harness/card-payments.ts'

const { env, drop } = await keptHostStoresEnv('postgres')
t.teardown(drop)
const { db, close } = openDatabaseOf(env)
t.teardown(close)
const host = await openTestHost(t, env)

t.test('counts and marks 1000 unread notifications at a time, whatever an account has', async t => {
  const { token } = await bootstrapUser(host.send)
  await cardUser(host.send, token).card()
  const path = '/user/v1/notifications'
  const list = () => host.send(path, { headers: bearer(token) })
  const first = (await list()).body.data['unreadCount'] as number
  const addTo = async (total: number, from: number): Promise<void> => {
    await db.query(
      `insert into gw_events (id, account_id, subject_kind, subject_id, number, cause, at, kept)
       select 'evt_' || n, account_id, subject_kind, subject_id, number + n, cause, at, kept
       from (select * from gw_events order by position limit 1) one, generate_series($1::int, $2::int) n`,
      [from + 1, total],
    )
  }
  await addTo(999, first)
  t.match((await list()).body, { data: { unreadCount: 999 }, summary: / 999 unread in total/ })
  await addTo(1100, 999)
  t.match((await list()).body, { data: { unreadCount: 1000 }, summary: / 1000 or more unread in total/ })
  const markAll = () => host.send(path, { method: 'PATCH', body: { read: true }, headers: bearer(token) })
  t.match((await markAll()).body.data, { marked: 1000, unreadCount: 100 })
  t.match((await markAll()).body.data, { marked: 100, unreadCount: 0 })
})
