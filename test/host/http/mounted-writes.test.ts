// Writes without an idempotency key, each in a transaction of its own.
import { allow, type Verdict } from '@gatewright/kernel'
import t from 'tap'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { openSqlite } from '../../harness/stores.ts'
import { sample, serveOperations, SUCCESS } from './serve-operations.ts'

const { connections, close } = await openSqlite(1, async db => {
  await db.query('create table gw_made (id text primary key)')
  await migrateIdempotency(db)
})
t.teardown(close)
const db = connections[0]!
const DENIED = { ok: false, code: 'not_found', status: 404, message: 'No.' } as const
const count = async (): Promise<number> => (await db.query('select id from gw_made')).rows.length
t.beforeEach(() => db.query('delete from gw_made'))

interface Call {
  readonly tx: typeof db
  readonly effectId: string
  readonly prepared: unknown
  reserve(spend: object): Promise<unknown>
  permits(amount: object): Promise<unknown>
}
/** Sends a write that makes a row and then ends as the test says. */
async function write(
  end: (context: Call) => Promise<Verdict<unknown>>,
  more: object = {},
  check: (on: unknown) => Verdict<unknown> = () => allow(undefined),
) {
  const effects: string[] = []
  const operation = sample({
    method: 'POST',
    idempotency: 'none',
    spends: false,
    handle: undefined,
    async write(_: unknown, context: Call) {
      effects.push(context.effectId)
      await context.tx.query("insert into gw_made values ('a')")
      return end(context)
    },
    ...more,
  })
  const requirements = { check: async (on: unknown) => check(on) }
  const idempotency = createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx) })
  const { send, decisions } = await serveOperations(t, [operation], {
    more: { db, requirements, idempotency },
  })
  const response = await send('/user/v1/things', { method: 'POST', body: '{}' })
  return { response, decisions, effects }
}

t.test('commits the rows of a write that succeeds', async t => {
  const { response, effects } = await write(async () => SUCCESS)
  t.match(response, { status: 200, body: { ok: true, data: { a: 1 } } })
  t.equal(await count(), 1)
  t.match(effects, [/^[0-9a-f]{32}$/])
})

t.test('rolls back the rows of a write that denies or fails', async t => {
  const denied = await write(async () => DENIED)
  t.match(denied.response, { status: 404, body: { error: 'not_found', message: 'No.' } })
  t.equal(await count(), 0)
  const bug = new Error('a bug')
  const failed = await write(() => Promise.reject(bug))
  t.match(failed.response, { status: 500, body: { error: 'internal_error' } })
  t.equal(await count(), 0)
  t.equal(failed.decisions[0]?.failure, bug)
})

t.test('hands on what was prepared, and denies what cannot be prepared', async t => {
  const prepared: unknown[] = []
  const keep = async (context: Call) => {
    prepared.push(context.prepared)
    return SUCCESS
  }
  await write(keep, { prepare: async () => allow(7) })
  t.same(prepared, [7])
  await db.query('delete from gw_made')
  const { response } = await write(keep, { prepare: async () => DENIED })
  t.match(response, { status: 404 })
  t.same([prepared, await count()], [[7], 0])
})

t.test('checks the requirements once, in the transaction, and before what is prepared', async t => {
  const blocked = { ok: false, code: 'policy_blocked', status: 403, message: 'Not yet.' } as const
  const requires = { requires: 'onboarding' }
  const prepare = async () => allow(undefined)
  for (const [more, places] of [
    [requires, ['transaction']],
    [{ ...requires, prepare }, ['database', 'transaction']],
  ] as const) {
    const asked: string[] = []
    const placeOf = (on: unknown): string => (on === db ? 'database' : 'transaction')
    const { response } = await write(
      async () => SUCCESS,
      more,
      on => allow(asked.push(placeOf(on))),
    )
    t.match(response, { status: 200 })
    t.same(asked, places)
    await db.query('delete from gw_made')
    for (const place of places) {
      const denied = await write(
        async () => SUCCESS,
        more,
        on => (placeOf(on) === place ? blocked : allow(undefined)),
      )
      t.match(denied, {
        response: { status: 403, body: { error: 'policy_blocked' } },
        decisions: [{ failure: undefined }],
      })
      t.equal(await count(), 0)
    }
  }
  t.match(
    (
      await write(
        async () => SUCCESS,
        {},
        () => blocked,
      )
    ).response,
    { status: 200 },
    'it has none',
  )
  await db.query('delete from gw_made')
  t.match((await write(async () => SUCCESS, requires)).response, { status: 200 })
})

t.test('cannot spend without an idempotency key', async t => {
  const { response, decisions } = await write(async context => {
    await context.reserve({ amountCents: 1 })
    return SUCCESS
  })
  t.match(response, { status: 500 })
  t.match(decisions[0]?.failure, { message: /may not reserve anything: its rule must spend/ })
  t.equal(await count(), 0)
})

t.test('an optional key decides how a write runs', async t => {
  const { response } = await write(async () => SUCCESS, { idempotency: 'optional' })
  t.match(response, { status: 200 })
  t.equal(await count(), 1)
})

t.test('responds in JSON when a response cannot be rendered', async t => {
  let calls = 0
  const clock = {
    now() {
      calls += 1
      if (calls === 1) throw new Error('no time')
      return 1_767_225_600_999
    },
  }
  const { send } = await serveOperations(t, [sample({})], { more: { clock } })
  t.match(await send('/user/v1/things'), { status: 500, body: { error: 'internal_error' } })
  t.match(await send('/user/v1/things'), { status: 200 })
})
