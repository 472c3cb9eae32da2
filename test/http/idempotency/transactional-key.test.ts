// Whether a transactional write requires an idempotency key, and what happens without one.
import { scopeCatalogue } from '@gatewright/kernel'
import { fromSqlite, rows } from '@gatewright/kernel/sql'
import { gate, type Decision, type HandlerResponse } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { memorySpends } from '@gatewright/scope-guard/memory'
import Database from 'libsql'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

type Choice = 'required' | 'optional' | 'none'
const scopes = scopeCatalogue(['payments.write'])
const rule = { operation: 'payments.label', allOf: ['payments.write'] } as const
const denial = (status: number) => ({ ok: false, code: 'denied', status, message: 'denied' }) as const

const database = new Database(':memory:')
t.teardown(() => database.close())
const db = fromSqlite(database)
await migrateIdempotency(db)
database.exec('create table folders (id text primary key)')
const { guard, bearer, clock } = await bench({ spend: memorySpends() })
const transactions = createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx), clock })
const authorization = await bearer({ scopes: ['payments.write'] })
let keys = 0

/** The ways in which a handler that has made a row ends, and whether a record stores its response. */
const ENDINGS: Readonly<
  Record<
    string,
    {
      end(abandon: (denied: ReturnType<typeof denial>) => never): HandlerResponse
      status: number
      stored: boolean
    }
  >
> = {
  'a success': { end: () => ({ status: 201 }), status: 201, stored: true },
  'a stored denial': { end: () => denial(404), status: 404, stored: true },
  'a denial': { end: () => denial(422), status: 422, stored: false },
  'an abandoned run': { end: abandon => abandon(denial(409)), status: 409, stored: false },
  'a response of 503': { end: () => ({ status: 503 }), status: 503, stored: false },
  'an error': {
    end() {
      throw new Error('broken')
    },
    status: 500,
    stored: false,
  },
}

for (const choice of ['required', 'optional', 'none'] as const)
  for (const key of [true, false])
    t.test(`idempotencyKey ${choice}, ${key ? 'with' : 'without'} a key`, async t => {
      for (const [name, { end, status, stored }] of Object.entries(ENDINGS)) {
        const effects: string[] = []
        const decisions: Decision[] = []
        const api = gate({
          guard,
          scopes,
          transactions,
          report: () => {},
          observe: each => decisions.push(each),
        })
        const route = api.transactional(
          rule,
          async (_call, { tx, effectId, abandon }) => {
            effects.push(effectId)
            await tx.query('insert into folders (id) values ($1)', [`${effectId} ${effects.length}`])
            return end(abandon)
          },
          { idempotencyKey: choice },
        )
        const served = fetchGate(api, { body: 'stream', peer: 'none' }).handle(route)
        keys += 1
        const headers = {
          authorization,
          'content-type': 'application/json',
          ...(key ? { 'idempotency-key': `key-${String(keys).padStart(8, '0')}` } : {}),
        }
        const send = async () =>
          (await served(new Request('http://api.test/f', { method: 'POST', headers, body: '{}' }), undefined))
            .status
        await db.query('delete from folders')
        const statuses = [await send(), await send()]
        const made = (await rows(db, 'select id from folders')).length
        const isRecorded = choice === 'required' || (choice === 'optional' && key)
        if (choice === 'required' && !key) {
          t.same([statuses, effects, made], [[400, 400], [], 0], `${name}: the handler does not run`)
          continue
        }
        t.same(statuses, [status, status], name)
        t.equal(effects.length, isRecorded && stored ? 1 : 2, `${name}: a stored response is replayed`)
        t.equal(
          new Set(effects).size,
          isRecorded ? 1 : 2,
          `${name}: an effect without a record has an id of its own`,
        )
        const commits = isRecorded ? stored : status < 400
        t.equal(made, commits ? effects.length : 0, `${name}: its rows`)
        t.same(
          decisions.map(({ effectId }) => effectId),
          isRecorded ? [effects[0], effects[0]] : [undefined, undefined],
          name,
        )
      }
    })

t.test(
  'refuses a wrong choice, a spend without a key, and transactions that cannot run without a record',
  t => {
    const handler = () => ({ status: 201 })
    const { run } = transactions
    const spending = { ...rule, spends: 'spend' } as const
    const declare = (idempotencyKey: unknown, as: object = rule, port: object = transactions) =>
      gate({
        guard,
        scopes,
        transactions: port as typeof transactions,
        spendStorage: () => memorySpends(),
      }).transactional(as as typeof rule, handler, { idempotencyKey: idempotencyKey as Choice })
    t.throws(() => declare('never'), /idempotencyKey must be "required", "optional" or "none", got "never"/)
    for (const choice of ['optional', 'none']) {
      t.throws(() => declare(choice, spending), /its rule spends, so idempotencyKey must be "required"/)
      t.throws(() => declare(choice, rule, { run }), /must have the function runUnrecorded/)
    }
    t.doesNotThrow(() => declare('required', spending, { run }))
    t.doesNotThrow(() => declare(undefined, spending, { run }))
    t.end()
  },
)

t.test('repeats that wait for a run which abandons its write all get its denial', async t => {
  const failures: unknown[] = []
  const api = gate({ guard, scopes, transactions, report: error => failures.push(error) })
  let open = (): void => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  const effects: string[] = []
  const route = api.transactional(rule, async (_call, { effectId, abandon }) => {
    effects.push(effectId)
    await opened
    return abandon(denial(409))
  })
  const served = fetchGate(api, { body: 'stream', peer: 'none' }).handle(route)
  const headers = {
    authorization,
    'content-type': 'application/json',
    'idempotency-key': 'at-once-1',
  } as const
  const ask = () =>
    served(new Request('http://api.test/f', { method: 'POST', body: '{}', headers }), undefined)
  const asked = [ask(), ask(), ask()]
  while (effects.length === 0) await new Promise(resolve => setImmediate(resolve))
  open()
  const responses = await Promise.all(asked)
  t.same(
    responses.map(({ status }) => status),
    [409, 409, 409],
  )
  t.same(failures, [])
})
