import type { Decision } from '@gatewright/http'
import type { SqlClient } from '@gatewright/kernel/sql'
import { rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { onBothDatabases } from '../../harness/databases/host-tables.ts'
import * as internals from '../../harness/internals.ts'
import { storedBytes } from '../../harness/databases/stored-bytes.ts'
import { REQUEST_ROWS } from '../../workspace/bounds.ts'

const { createRequestLog, NEWEST_SEARCHED, requests } = internals

const isConsole = async (keyId: string): Promise<boolean> => keyId === 'console'
let made = 0
/** A decision about a refused write of Ann's, with changes. */
function decision(changes: Partial<Decision> = {}): Decision {
  made += 1
  const denial = {
    ok: false,
    code: 'policy_blocked',
    status: 403,
    message: 'No.',
    details: { left: 5 },
  } as const
  return {
    requestId: `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`,
    traceparent: undefined,
    traceId: undefined,
    method: 'POST',
    byTool: false,
    operation: 'cards.create',
    route: undefined,
    credential: 'session',
    accountId: 'ann',
    keyId: 'key',
    sessionId: 'session',
    status: 403,
    code: 'policy_blocked',
    reason: 'because',
    rule: 'limits',
    denial,
    limits: undefined,
    aliases: [],
    replayed: false,
    outcome: undefined,
    effectId: undefined,
    policyRevision: undefined,
    durationMs: 1.5,
    guardMs: 1,
    handlerMs: 0,
    storeMs: 0,
    failure: undefined,
    ...changes,
  }
}
const success = { status: 200, code: undefined, reason: undefined, rule: undefined, denial: undefined }
const stored = (db: SqlClient, accountId = 'ann') => requests.list(db, { accountId, limit: 5000 })

onBothDatabases('keeps what was decided, and why', async (t, { dbs: [db] }) => {
  const clock = manualClock()
  const log = createRequestLog({ isConsole, db, clock, mode: 'writes' })
  const refused = decision()
  log.record(refused)
  clock.advance(1)
  const allowed = decision({ ...success, sessionId: 'key:key', replayed: true })
  log.record(allowed)
  t.same(await stored(db), [], 'nothing is written by a request')
  await log.flush()
  t.match(await stored(db), [
    { id: allowed.requestId, status: 200, code: null, sessionId: null, details: null, replayed: true },
    {
      id: refused.requestId,
      at: clock.now() - 1,
      method: 'POST',
      operation: 'cards.create',
      keyId: 'key',
      sessionId: 'session',
      credential: 'session',
      status: 403,
      code: 'policy_blocked',
      rule: 'limits',
      reason: 'because',
      message: 'No.',
      field: null,
      details: { left: 5 },
      replayed: false,
      durationUs: 1500,
    },
  ])
  t.match(await requests.find(db, 'ann', refused.requestId), { id: refused.requestId })
  t.equal(await requests.find(db, 'bob', refused.requestId), undefined, 'no other account finds it')
  t.match(await requests.findAnywhere(db, refused.requestId), { accountId: 'ann' })
})

onBothDatabases('keeps the decisions that its mode names', async (t, { dbs: [db] }) => {
  const all: Partial<Decision>[] = [
    {},
    { method: 'GET', status: 429 },
    { method: 'GET', status: 503 },
    success,
    { ...success, method: 'GET' },
    { operation: undefined, status: 404 },
  ]
  for (const [mode, count] of [
    ['off', 0],
    ['refusals', 3],
    ['writes', 4],
    ['all', 5],
  ] as const) {
    await rows(db, 'delete from gw_requests')
    const log = createRequestLog({ isConsole, db, clock: manualClock(), mode })
    for (const changes of all) log.record(decision(changes))
    await log.flush()
    t.equal((await stored(db)).length, count, mode)
  }
})

onBothDatabases('a flood of one account leaves room for others, and is counted', async (t, { dbs: [db] }) => {
  const log = createRequestLog({ isConsole, db, clock: manualClock(), mode: 'writes' })
  for (let n = 0; n < 500; n++) log.record(decision())
  log.record(decision({ accountId: 'bob' }))
  log.record(decision({ accountId: undefined, status: 401, denial: undefined }))
  t.equal(log.dropped, 300)
  await log.flush()
  t.equal((await stored(db)).length, 200)
  t.equal((await stored(db, 'bob')).length, 1)
  t.equal((await stored(db, '')).length, 1, 'requests without a credential have no account')
  for (let n = 0; n < 30; n++)
    for (let i = 0; i < 100; i++) log.record(decision({ accountId: `account ${i}` }))
  t.equal(log.dropped, 1300, 'at most 2000 wait')
})

onBothDatabases(
  'keeps the newest rows of an account, and none that are too old',
  async (t, { dbs: [db] }) => {
    const clock = manualClock()
    const log = createRequestLog({ isConsole, db, clock, mode: 'writes' })
    log.record(decision({ accountId: 'bob' }))
    for (let n = 0; n < 15; n++) {
      for (let i = 0; i < 100; i++) {
        clock.advance(1)
        log.record(decision())
      }
      await log.flush()
    }
    const left = await stored(db)
    t.equal(left.length, 1000)
    t.equal(left[0]?.at, clock.now(), 'the newest stay')
    t.equal((await stored(db, 'bob')).length, 1)
    t.equal(await requests.collect(db, 100, clock.now() - 999), 1, 'that of Bob')
    t.equal(await requests.collect(db, 400, clock.now() + 1), 400, 'at most so many')
    await requests.erase(db, 'ann')
    t.same(await stored(db), [])
  },
)

onBothDatabases(
  'rows wait for a database that is down, and none is stored twice',
  async (t, { dbs: [db] }) => {
    let down = true
    let lost = false
    const failing: SqlClient = {
      ...db,
      async transaction(work) {
        if (down) throw new Error('down')
        const result = await db.transaction(work)
        if (lost) throw new Error('the reply was lost')
        return result
      },
    }
    const log = createRequestLog({ isConsole, db: failing, clock: manualClock(), mode: 'writes' })
    log.record(decision())
    await t.rejects(log.flush(), /down/)
    log.record(decision())
    down = false
    lost = true
    await t.rejects(log.flush(), /lost/)
    lost = false
    log.record(decision())
    await Promise.all([log.flush(), log.flush()])
    t.equal((await stored(db)).length, 3)
    t.equal(log.dropped, 0)
  },
)

onBothDatabases(
  'a flood of one account leaves room for others while the database is down',
  async (t, { dbs: [db] }) => {
    let down = true
    const failing: SqlClient = {
      ...db,
      transaction: work => (down ? Promise.reject(new Error('down')) : db.transaction(work)),
    }
    const log = createRequestLog({ isConsole, db: failing, clock: manualClock(), mode: 'writes' })
    for (let round = 0; round < 12; round++) {
      for (let n = 0; n < 200; n++) log.record(decision())
      await t.rejects(log.flush(), /down/)
    }
    log.record(decision({ accountId: 'bob' }))
    down = false
    await log.flush()
    t.equal((await stored(db)).length, 200)
    t.equal((await stored(db, 'bob')).length, 1)
  },
)

onBothDatabases(
  'leaves out what consoles looked up, but no write and no failure of the host',
  async (t, { dbs: [db] }) => {
    const clock = manualClock()
    const asked: string[] = []
    const log = createRequestLog({
      db,
      clock,
      mode: 'all',
      isConsole: keyId => {
        asked.push(keyId)
        return isConsole(keyId)
      },
    })
    const statuses = [200, 400, 403, 404, 429, 500, 503]
    const all = ['console', 'key', undefined].flatMap(keyId =>
      ['GET', 'HEAD', 'POST', 'DELETE'].flatMap(method =>
        statuses.map(status => decision({ keyId, method, status })),
      ),
    )
    for (const each of all) log.record(each)
    await log.flush()
    t.same(asked.toSorted(), ['console', 'key'], 'each key is looked up once')
    const isListed = ({ keyId, method, status }: Decision): boolean =>
      keyId !== 'console' || !['GET', 'HEAD'].includes(method) || status >= 500
    const ids = (some: readonly { readonly id: string }[]) => some.map(({ id }) => id).toSorted()
    const expected = (test: (each: Decision) => boolean) =>
      all
        .filter(test)
        .map(({ requestId }) => requestId)
        .toSorted()
    const list = (filter: object) =>
      requests.list(db, { accountId: 'ann', limit: 500, programsOnly: true, ...filter })
    t.same(ids(await list({})), expected(isListed))
    t.same(
      ids(await list({ outcome: 'refused' })),
      expected(each => isListed(each) && each.status >= 400 && each.status < 500 && each.status !== 429),
    )
    t.equal((await stored(db)).length, all.length, 'all are stored')
    const counts = await requests.topRefusals(db, 0, 50)
    t.equal(
      counts.reduce((sum, { count }) => sum + count, 0),
      expected(each => isListed(each) && each.status >= 400 && each.status < 500).length,
    )
  },
)

onBothDatabases('keeps texts that a database would reject, changed and cut', async (t, { dbs: [db] }) => {
  const log = createRequestLog({ isConsole, db, clock: manualClock(), mode: 'writes' })
  const bad = 'a\0\ud800'.padEnd(5000, 'b')
  const denial = { ok: false, code: 'invalid_request', status: 400, message: bad, field: bad } as const
  log.record(decision({ operation: bad, reason: bad, rule: bad, keyId: bad, method: bad, denial }))
  log.record(
    decision({
      accountId: bad,
      sessionId: bad,
      credential: bad,
      code: bad,
      denial: { ...denial, details: { bad: '\0\ud800' } },
    }),
  )
  log.record(decision({ denial: { ...denial, details: { long: 'x'.repeat(1490) } } }))
  await log.flush()
  t.equal(log.dropped, 0)
  const kept = 'a\ufffd\ufffd'.padEnd(100, 'b')
  const [last, first] = await stored(db)
  t.match(first, { operation: kept, reason: kept, rule: kept, keyId: kept, method: kept, field: kept })
  t.equal(first?.message, kept.padEnd(300, 'b'))
  t.equal(last?.details, null, 'facts of more than 1500 characters are left out')
  t.match(await stored(db, kept), [
    { sessionId: kept, credential: kept, code: kept, details: { bad: '\0\ud800' } },
  ])
})

onBothDatabases('a row is no larger than the documented bound', async (t, { dialect, dbs: [db] }) => {
  if (dialect !== 'sqlite') return
  const log = createRequestLog({ isConsole, db, clock: manualClock(), mode: 'writes' })
  const long = '\uffff'.repeat(2000)
  log.record(
    decision({
      requestId: long,
      accountId: long,
      method: long,
      operation: long,
      keyId: long,
      sessionId: long,
      credential: long,
      code: long,
      rule: long,
      reason: long,
      denial: {
        ok: false,
        code: 'invalid_request',
        status: 400,
        message: long,
        field: long,
        details: { long: '\uffff'.repeat(1489) },
      },
    }),
  )
  const before = await storedBytes(db)
  await log.flush()
  const bytes = (await storedBytes(db)) - before
  t.comment(`${bytes} bytes`)
  t.ok(bytes <= REQUEST_ROWS.bytes && REQUEST_ROWS.bytes <= 1.2 * bytes, `${bytes} bytes`)
})

onBothDatabases(
  'a row that the database refuses is dropped and counted, and loses no other',
  async (t, { dialect, dbs: [db] }) => {
    await rows(
      db,
      dialect === 'postgres'
        ? `alter table gw_requests add constraint no_bad check (operation <> 'bad')`
        : `create trigger no_bad before insert on gw_requests when new.operation = 'bad'
          begin select raise(abort, 'refused'); end`,
    )
    if (dialect === 'postgres') t.teardown(() => rows(db, 'alter table gw_requests drop constraint no_bad'))
    const log = createRequestLog({ isConsole, db, clock: manualClock(), mode: 'writes' })
    for (let n = 0; n < 120; n++) log.record(decision(n % 60 === 7 ? { operation: 'bad' } : {}))
    await log.flush()
    t.equal((await stored(db)).length, 118)
    t.equal(log.dropped, 2)
    log.record(decision({ operation: 'bad' }))
    await log.flush()
    t.equal(log.dropped, 3, 'alone, too')
  },
)

onBothDatabases(
  'lists by page, outcome, key, operation and rule, and counts refusals',
  async (t, { dbs: [db] }) => {
    const clock = manualClock()
    const log = createRequestLog({ isConsole, db, clock, mode: 'writes' })
    const kinds: Partial<Decision>[] = [
      {},
      { keyId: 'other' },
      success,
      { status: 429, code: 'rate_limited', rule: undefined },
      { status: 503, code: 'service_unavailable', rule: undefined },
      { operation: 'cards.change', rule: 'denyOperations' },
      { accountId: 'bob' },
      {},
    ]
    for (const kind of kinds) log.record(decision(kind))
    await log.flush()
    const count = async (filter: object) => (await requests.list(db, { limit: 100, ...filter })).length
    t.equal(await count({}), 8)
    t.equal(await count({ accountId: 'ann', outcome: 'refused' }), 4)
    t.equal(await count({ accountId: 'ann', outcome: 'limited' }), 1)
    t.equal(await count({ code: 'rate_limited' }), 1)
    t.equal(await count({ accountId: 'ann', outcome: 'failed' }), 1)
    t.equal(await count({ accountId: 'ann', outcome: 'allowed' }), 1)
    t.equal(await count({ keyIds: ['other'] }), 1)
    t.equal(await count({ keyIds: [] }), 0)
    t.equal(await count({ accountId: 'ann', operation: 'cards.change', rule: 'denyOperations' }), 1)
    const refused = { accountId: 'ann', outcome: 'refused' }
    t.equal(await count({ ...refused, rule: null }), 0, 'all were blocked by a rule')
    t.equal(await count({ accountId: 'ann', outcome: 'limited', rule: null }), 1)
    t.equal(await count({ accountId: 'ann', keyIds: null }), 0, 'all used a key')
    // All of them have one instant: the id decides.
    const seen: string[] = []
    for (let after: { at: number; id: string } | undefined; ; ) {
      const page = await requests.list(db, { accountId: 'ann', limit: 2, after })
      seen.push(...page.map(({ id }) => id))
      after = page.at(-1)
      if (page.length < 2) break
    }
    t.equal(new Set(seen).size, 7)
    t.match(await requests.topRefusals(db, clock.now(), 1), [
      {
        accountId: 'ann',
        keyId: 'key',
        operation: 'cards.create',
        code: 'policy_blocked',
        rule: 'limits',
        count: 2,
      },
    ])
    t.same(await requests.topRefusals(db, clock.now() + 1, 1), [])
  },
)

onBothDatabases(
  'searches the newest requests of all accounts only, so that a search without matches ends',
  async (t, { dbs: [db] }) => {
    const insert = (id: string, at: number, status: number): string =>
      `('ann', '${id}', ${at}, 'POST', 'cards.create', ${status}, 0, 0)`
    const add = (values: readonly string[]) =>
      rows(
        db,
        `insert into gw_requests (account_id, id, at, method, operation, status, replayed, duration_us)
          values ${values.join(', ')}`,
      )
    await add([insert('refused', 1, 403)])
    const many = Array.from({ length: NEWEST_SEARCHED - 1 }, (_, n) => insert(`allowed-${n}`, n + 2, 200))
    for (let at = 0; at < many.length; at += 1000) await add(many.slice(at, at + 1000))
    const refused = async () => [
      (await requests.list(db, { outcome: 'refused', newestOnly: true, limit: 5 })).length,
      (await requests.topRefusals(db, 0, 5)).length,
    ]
    t.same(await refused(), [1, 1], 'it is the oldest of the newest ones')
    await add([insert('newer', NEWEST_SEARCHED + 1, 200)])
    t.same(await refused(), [0, 0])
    t.equal((await requests.list(db, { outcome: 'refused', limit: 5 })).length, 1, 'it is still kept')
  },
)
