// The statuses and the replay field that clients of other APIs expect.
import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision } from '@gatewright/http'
import type { IdempotencyDialect } from '#packages/http/dist/idempotency/dialect.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { fromSqlite } from '@gatewright/kernel/sql'
import Database from 'libsql'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['payments.write'])
const rule = { operation: 'payments.create', allOf: ['payments.write'] } as const

/** Statuses of a missing key, a key in use, a reused key; the replay field; the statuses of the responses of a transaction. */
async function statuses(idempotencyDialect?: IdempotencyDialect) {
  const { guard, bearer } = await bench()
  const decisions: Decision[] = []
  const db = fromSqlite(new Database(':memory:'))
  await migrateIdempotency(db)
  const api = gate({
    guard,
    scopes,
    idempotency: createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }),
    transactions: createTransactionalIdempotency({ db, storage: sqliteIdempotency }),
    observe: decision => decisions.push(decision),
    ...(idempotencyDialect ? { idempotencyDialect } : {}),
  })
  const authorization = await bearer({ scopes: ['payments.write'] })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const request = (body: string, key?: string): Request =>
    new Request('http://api.test/payments', {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(key ? { 'idempotency-key': key } : {}),
      },
      body,
    })
  let finish = (): void => {}
  const open = new Promise<void>(resolve => {
    finish = resolve
  })
  const pay = handle(api.idempotent(rule), async () => {
    await open
    return { status: 201, body: {} }
  })
  const first = pay(request('{}', 'key-00000001'))
  const missing = (await pay(request('{}'))).status
  const inUse = (await pay(request('{}', 'key-00000001'))).status
  finish()
  await first
  const reused = (await pay(request('{"a":1}', 'key-00000001'))).status
  const replay = await pay(request('{}', 'key-00000001'))
  const transactional = handle(
    api.transactional({ ...rule, operation: 'payments.book' }, () => ({ status: 201, body: {} })),
  )
  await transactional(request('{}', 'key-00000002'))
  const booked = await transactional(request('{}', 'key-00000002'))
  const rebooked = (await transactional(request('{"a":1}', 'key-00000002'))).status
  const field = ({ headers }: Response): string | undefined =>
    ['idempotency-replayed', 'idempotent-replayed'].find(name => headers.get(name) === 'true')
  t.equal(decisions.filter(({ replayed }) => replayed).length, 2)
  return { missing, inUse, reused, replay: field(replay), rebooked, booked: field(booked) }
}

t.test('by default a key in use is a 429 and a reused key a 400', async t => {
  const expected = { missing: 400, inUse: 429, reused: 400, rebooked: 400 }
  const field = { replay: 'idempotency-replayed', booked: 'idempotency-replayed' }
  t.same(await statuses(), { ...expected, ...field })
  t.same(await statuses('gatewright'), { ...expected, ...field })
})

t.test('ietf: a key in use is a 409 and a reused key a 422', async t => {
  t.same(await statuses('ietf'), {
    missing: 400,
    inUse: 409,
    reused: 422,
    rebooked: 422,
    replay: 'idempotency-replayed',
    booked: 'idempotency-replayed',
  })
})

t.test('stripe: a key in use is a 409, and a replay has Idempotent-Replayed', async t => {
  t.same(await statuses('stripe'), {
    missing: 400,
    inUse: 409,
    reused: 400,
    rebooked: 400,
    replay: 'idempotent-replayed',
    booked: 'idempotent-replayed',
  })
})

t.test('refuses an unknown dialect', async t => {
  t.throws(() => gate({ idempotencyDialect: 'paypal' as IdempotencyDialect }), {
    name: 'TypeError',
    message: /idempotencyDialect must be .*gatewright.*ietf.*stripe/,
  })
})
