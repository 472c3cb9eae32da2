// The requests of command lines in their table: deadlines, codes and who wins.
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import { openSqlite } from '../../../harness/stores.ts'
import {
  approve,
  collectRequests,
  endOf,
  enterCode,
  findOpen,
  poll,
  startRequest,
} from '#packages/reference-host/dist/modules/web-sign-in/cli-requests.js'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'

type Session = Parameters<typeof approve>[2]

const NOW = 1_767_225_600_000
const END = NOW + 600_000
const SESSION = { sessionId: 'ses_1', expiresAt: END } as Session

const { connections, close } = await openSqlite(1, each => migrateHost(each))
t.teardown(close)
const db = connections[0] as SqlClient
const start = (now = NOW) =>
  startRequest(db, { clientName: 'gw', clientAddress: '192.0.2.1', requestedKey: {} }, now)

t.test('starts a request of ten minutes with a code of its own letters', async t => {
  const all = await Promise.all(Array.from({ length: 30 }, () => start()))
  for (const { requestId, requestToken, code, startedAt, expiresAt } of all) {
    t.match(requestId, /^[0-9a-f]{32}$/)
    t.match(requestToken, new RegExp(`^[\\w-]{43}\\.${END}$`))
    t.match(code, /^[BCDFGHJKLMNPQRSTVWXZ23456789]{8}$/)
    t.same([startedAt, expiresAt], [NOW, END])
    t.equal(endOf(requestToken), END)
  }
  t.equal(new Set(all.map(({ code }) => code)).size, 30)
})

t.test('reads the end from a request token, and from no other text', async t => {
  const secret = 'A'.repeat(43)
  t.equal(endOf(`${secret}.${END}`), END)
  for (const text of [secret, `A${secret}.${END}`, `${secret}.${END}0`, `${secret}.1`, ` ${secret}.${END}`])
    t.equal(endOf(text), undefined, text)
})

t.test('finds an open request by its id or token until 1 ms before its end', async t => {
  const [request, other] = [await start(), await start()]
  for (const id of [request.requestId, request.requestToken]) {
    t.match(await findOpen(db, id, END - 1), {
      requestId: request.requestId,
      code: request.code,
      clientName: 'gw',
      clientAddress: '192.0.2.1',
      startedAt: NOW,
      expiresAt: END,
    })
    t.equal(await findOpen(db, id, END), undefined)
  }
  const unnamed = await startRequest(
    db,
    { clientName: null, clientAddress: '192.0.2.1', requestedKey: {} },
    NOW,
  )
  t.equal((await findOpen(db, unnamed.requestId, NOW))?.clientName, null)
  t.ok(await approve(db, other.requestId, SESSION, NOW))
  t.equal(await findOpen(db, other.requestId, NOW), undefined, 'an approved one is not open')
  t.equal(await findOpen(db, 'unknown', NOW), undefined)
})

t.test('enters the code as a person types it, up to the end of the request', async t => {
  const { requestId, requestToken, code } = await start()
  const typed = ` ${code.slice(0, 4)}-${code.slice(4)} `.toLowerCase()
  for (const id of [requestId, requestToken])
    t.match(await enterCode(db, { id: id, typed: typed }, END - 1), { requestId })
  t.equal(await enterCode(db, { id: requestId, typed: code }, END), undefined)
  t.equal(await enterCode(db, { id: 'unknown', typed: code }, NOW), undefined)
})

t.test('the fifth wrong code ends a request, and right ones in between count nothing', async t => {
  const { requestId, requestToken, code } = await start()
  for (let tries = 1; tries <= 4; tries++) {
    t.equal(await enterCode(db, { id: requestId, typed: 'CCCC-CCCC' }, NOW), undefined)
    t.ok(await enterCode(db, { id: requestId, typed: code }, NOW), `after ${tries}`)
  }
  t.match(await poll(db, requestToken, NOW), { state: 'pending' })
  t.equal(await enterCode(db, { id: requestId, typed: '' }, NOW), undefined)
  t.equal(await enterCode(db, { id: requestId, typed: code }, NOW), undefined)
  t.match(await poll(db, requestToken, NOW), { state: 'denied' })
})

t.test('denies with the code, and with no wrong one', async t => {
  const { requestId, requestToken, code } = await start()
  t.equal(await enterCode(db, { id: requestId, typed: 'CCCC-CCCC', next: 'deny' }, NOW), undefined)
  t.match(await poll(db, requestToken, NOW), { state: 'pending', expiresAt: END })
  t.match(await enterCode(db, { id: requestId, typed: code, next: 'deny' }, NOW), { requestId })
  t.match(await poll(db, requestToken, NOW), { state: 'denied' })
  t.equal(await approve(db, requestId, SESSION, NOW), false)
})

t.test('approves an open request once, until 1 ms before its end, and no other one', async t => {
  const [request, other] = [await start(), await start()]
  t.equal(await approve(db, request.requestId, SESSION, END), false)
  t.equal(await approve(db, request.requestToken, SESSION, NOW), false, 'not by its token')
  t.equal(await approve(db, request.requestId, SESSION, END - 1), true)
  t.equal(await approve(db, request.requestId, { ...SESSION, sessionId: 'ses_2' }, NOW), false)
  t.match(await poll(db, other.requestToken, NOW), { state: 'pending' })
  t.match(await poll(db, request.requestToken, NOW), { state: 'completed', session: SESSION })
})

t.test('hands the session out once, until 1 ms before the end', async t => {
  const [early, late, open2] = [await start(), await start(), await start()]
  for (const { requestId } of [early, late]) await approve(db, requestId, SESSION, NOW)
  t.same(await poll(db, early.requestToken, END - 1), { state: 'completed', session: SESSION })
  t.same(await poll(db, early.requestToken, END - 1), { state: 'taken' })
  t.same(await poll(db, late.requestToken, END), { state: 'unknown' })
  t.same(await poll(db, late.requestToken, END - 1), { state: 'completed', session: SESSION })
  t.same(await poll(db, open2.requestToken, END - 1), { state: 'pending', expiresAt: END })
  t.same(await poll(db, open2.requestToken, END), { state: 'unknown' })
  t.same(await poll(db, early.requestId, NOW), { state: 'unknown' }, 'an id is no token')
  const done = await Promise.all([1, 2, 3].map(() => poll(db, late.requestToken, NOW)))
  t.same(new Set(done.map(({ state }) => state)), new Set(['taken']))
})

t.test('deletes requests from their end on, the oldest first, up to a limit', async t => {
  await rows(db, 'delete from gw_cli_requests')
  for (const at of [NOW + 2, NOW, NOW + 1, NOW + 3]) await start(at)
  const ends = async (): Promise<unknown[]> =>
    (await rows(db, 'select expires_at from gw_cli_requests order by 1')).map(
      row => Number(row['expires_at']) - END,
    )
  t.equal(await collectRequests(db, 9, END - 1), 0)
  t.equal(await collectRequests(db, 2, END + 2), 2)
  t.same(await ends(), [2, 3])
  t.equal(await collectRequests(db, 9, END + 2), 1)
  t.same(await ends(), [3])
})
