import { newId } from '@gatewright/host'
import assert from 'node:assert/strict'
import { migrate, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { onBothDatabases, type HostTables } from '../../harness/databases/host-tables.ts'
import * as internals from '../../harness/internals.ts'

const { defaulted, digits, flag, group, instant, integer, json, named, nullable, nullableGroup } = internals
const { position, table, text, oneOf, words } = internals
const things = table('gw_things', {
  id: text,
  accountId: text,
  position,
  kind: oneOf<'a' | 'b'>(),
  count: defaulted(integer),
  madeAt: nullable(instant),
  big: nullable(digits),
  marked: defaulted(flag),
  tags: nullable(words),
  note: nullable(json<{ readonly by: string }>()),
  source: group({ kind: named('source_kind', text), sourceId: text }),
  seen: nullableGroup({ hash: named('seen_hash', text), block: named('seen_block', integer) }),
})
type NewThing = Parameters<typeof things.insert>[1]

const DDL = `-- version 1
create table {prefix}things (
  position {position},
  id {id} not null,
  account_id {id} not null,
  kind text not null,
  count integer not null default 7,
  made_at bigint,
  big text,
  marked smallint not null default 0,
  tags text,
  note text,
  source_kind text not null,
  source_id text not null,
  seen_hash text,
  seen_block bigint,
  {primary key} (account_id, position),
  unique (account_id, id)
) {by account_id};`
const createThings = (db: SqlClient): Promise<void> => migrate(db, { namespace: 'things', ddl: DDL })

const onBoth = (title: string, run: (t: Test, tables: HostTables) => Promise<void>): void =>
  onBothDatabases(title, run, createThings)
const source = { kind: 'card', sourceId: '1' }
const thing = (id: string, accountId = 'ann', kind: 'a' | 'b' = 'a'): NewThing => ({
  id,
  accountId,
  kind,
  source,
})

onBoth(
  'reads a row as it was inserted, and what was left out as null or the default',
  async (t, { dbs: [db] }) => {
    const left = { count: 7, madeAt: null, big: null, marked: false, tags: null, note: null, seen: null }
    const one = await things.insert(db, thing('one'))
    t.same(one, { ...thing('one'), ...left, position: 1 })
    t.same(await things.find(db, 'ann', 'one'), one)
    const all = {
      ...thing('two'),
      count: -1,
      madeAt: 1_767_225_600_000,
      big: 2n ** 200n,
      marked: true,
      tags: ['x', 'y'],
      note: { by: 'an \' " 0' },
      seen: { hash: '0x1', block: 0 },
    }
    t.same(await things.insert(db, all), { ...all, position: 2 })
    t.same(await things.find(db, 'ann', 'two'), { ...all, position: 2 })
  },
)

onBoth('updates the members that are given, of the account that is named', async (t, { dbs: [db] }) => {
  const one = await things.insert(db, thing('one'))
  const two = await things.insert(db, thing('two'))
  assert(one && two)
  const changes = { tags: ['z'], seen: { hash: '0x2', block: 9 }, marked: true }
  t.same(await things.update(db, one, changes), { ...one, ...changes })
  t.same(await things.find(db, 'ann', 'one'), { ...one, ...changes })
  t.same(await things.find(db, 'ann', 'two'), two)
  t.match(await things.update(db, { ...one, ...changes }, { seen: null }), { seen: null, marked: true })
  t.match(await things.find(db, 'ann', 'one'), { seen: null, tags: ['z'] })
  t.equal(await things.update(db, two, {}), two)
  await t.rejects(things.update(db, { ...one, accountId: 'bob' }, { count: 1 }), /gw_things has no row one/)
  t.match(await things.find(db, 'ann', 'one'), { count: 7 })
})

onBoth(
  'adds a row before the next statement of a transaction, and refuses one whose id exists',
  async (t, { dbs: [db] }) => {
    await db.transaction(async tx => {
      await things.add(tx, thing('one', 'ann'))
      t.match(await things.find(tx, 'ann', 'one'), { id: 'one', count: 7 })
      await things.add(tx, thing('two', 'ann'))
    })
    t.equal(await things.count(db, 'ann'), 2)
    const twice = db.transaction(async tx => {
      await things.add(tx, thing('three', 'ann'))
      await things.add(tx, thing('one', 'ann'))
    })
    await t.rejects(twice, { code: 'ERR_STORE_UNAVAILABLE' })
    t.equal(await things.count(db, 'ann'), 2)
  },
)

onBoth('keeps rows of two accounts with the same id apart', async (t, { dbs: [db] }) => {
  t.match(await things.insert(db, thing('one', 'ann', 'a')), { kind: 'a' })
  t.match(await things.insert(db, thing('one', 'bob', 'b')), { kind: 'b' })
  t.equal(await things.insert(db, thing('one', 'bob', 'a')), undefined)
  t.match(await things.find(db, 'ann', 'one'), { kind: 'a' })
  t.match(await things.find(db, 'bob', 'one'), { kind: 'b' })
})

onBoth('counts the rows of an account', async (t, { dbs: [db] }) => {
  for (const id of ['one', 'two', 'three'])
    await things.insert(db, thing(id, 'ann', id === 'two' ? 'b' : 'a'))
  await things.insert(db, thing('four', 'bob'))
  t.equal(await things.count(db, 'ann'), 3)
  t.equal(await things.count(db, 'ann', "kind = 'a'"), 2)
  t.equal(await things.count(db, 'cid'), 0)
})

t.test('rejects a member that the table does not have', async t => {
  const db = { dialect: 'sqlite', query: () => Promise.reject(new Error('touched')) } as const
  await t.rejects(things.insert(db, { ...thing('one'), extra: 1 } as never), /gw_things has no member extra/)
})

onBoth('finds and locks a row for its own account only', async (t, { dbs: [db] }) => {
  await things.insert(db, thing('one'))
  t.match(await things.find(db, 'ann', 'one'), { id: 'one', accountId: 'ann', position: 1 })
  for (const [account, id] of [
    ['bob', 'one'],
    ['ann', 'two'],
    ['', 'one'],
  ] as const) {
    t.equal(await things.find(db, account, id), undefined)
    t.equal(await db.transaction(tx => things.lock(tx, account, id)), undefined)
  }
})

onBoth('of 20 simultaneous inserts of one id of an account, one makes the row', async (t, { dbs }) => {
  const made = await race(20, n =>
    things.insert(dbs[n % dbs.length]!, thing('one', 'ann', n % 2 === 0 ? 'a' : 'b')),
  )
  t.equal(made.filter(Boolean).length, 1)
})

onBoth('a locked row is changed by one transaction at a time', async (t, { dbs }) => {
  await things.insert(dbs[0], thing('one'))
  await race(40, n =>
    dbs[n % dbs.length]!.transaction(async tx => {
      const one = await things.lock(tx, 'ann', 'one')
      assert(one)
      await things.update(tx, one, { count: one.count + 1 })
    }),
  )
  t.match(await things.find(dbs[0], 'ann', 'one'), { count: 47 })
})

onBoth(
  "pages give each of an account's rows once, in the order wanted, whatever the size of the page",
  async (_t, { dbs: [db] }) => {
    const owners = Array.from({ length: 40 }, (_, n) => ['ann', 'bob', 'cid'][(n * 7) % 3] as string)
    const kinds = owners.map((_, n) => (n % 4 === 0 ? ('a' as const) : ('b' as const)))
    for (const [n, owner] of owners.entries()) await things.insert(db, thing(`row ${n}`, owner, kinds[n]))
    const expected = (owner: string, kind?: string): string[] =>
      owners
        .flatMap((each, n) => (each === owner && (kind ?? kinds[n]) === kinds[n] ? [`row ${n}`] : []))
        .toReversed()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('ann', 'bob', 'cid', 'nobody'),
        fc.constantFrom(undefined, 'a' as const, 'b' as const),
        fc.integer({ min: 1, max: 15 }),
        fc.constantFrom('newest' as const, 'oldest' as const),
        async (owner, kind, limit, order) => {
          const seen: string[] = []
          let after = 0
          for (;;) {
            const page = await things.page(
              db,
              owner,
              { after, limit, order },
              kind === undefined ? {} : { kind },
            )
            seen.push(...page.map(({ id }) => id))
            if (page.length < limit) break
            after = page.at(-1)!.position
          }
          const newestFirst = expected(owner, kind)
          assert.deepEqual(seen, order === 'newest' ? newestFirst : newestFirst.toReversed())
        },
      ),
      { numRuns: randomCases(60) },
    )
  },
)

t.test('a new id is the kind and 32 hexadecimal digits, and never the same', async t => {
  const ids = Array.from({ length: 1000 }, () => newId('card'))
  t.equal(new Set(ids).size, 1000)
  for (const id of ids.slice(0, 20)) t.match(id, /^card_[0-9a-f]{32}$/)
})
