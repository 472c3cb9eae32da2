import assert from 'node:assert/strict'
import { rows, toInteger, toText, type SqlClient, type SqlDialect } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import { newId, ownedRows, type OwnedRows } from '@gatewright/reference-host'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { onBothDatabases, type HostTables } from '../../harness/host-tables.ts'

interface Thing {
  readonly id: string
  readonly accountId: string
  readonly position: number
  readonly kind: string
  readonly count: number
}

const thingsOf = (dialect: SqlDialect): OwnedRows<Thing> =>
  ownedRows(dialect, 'gw_things', row => ({
    id: toText(row['id']),
    accountId: toText(row['account_id']),
    position: toInteger(row['position']),
    kind: toText(row['kind']),
    count: toInteger(row['count']),
  }))

async function createThings(db: SqlClient, dialect: SqlDialect): Promise<void> {
  const position =
    dialect === 'postgres'
      ? 'bigint generated always as identity primary key'
      : 'integer primary key autoincrement'
  await rows(
    db,
    `create table gw_things (position ${position}, id text not null unique, account_id text not null,
      kind text not null, count integer not null default 0)`,
  )
}

const onBoth = (
  title: string,
  run: (t: Test, tables: HostTables & { readonly things: OwnedRows<Thing> }) => Promise<void>,
): void =>
  onBothDatabases(title, (t, tables) => run(t, { ...tables, things: thingsOf(tables.dialect) }), createThings)
const thing = (id: string, account_id = 'ann', kind = 'a') => ({ id, account_id, kind })

onBoth('finds and locks a row for its own account only', async (t, { dbs: [db], things }) => {
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

onBoth('inserts an id once, whichever account has it', async (t, { dbs: [db], things }) => {
  t.match(await things.insert(db, thing('one')), { id: 'one' })
  t.equal(await things.insert(db, thing('one')), undefined)
  t.equal(await things.insert(db, thing('one', 'bob')), undefined)
  t.match(await things.find(db, 'ann', 'one'), { accountId: 'ann' })
})

onBoth('of 20 simultaneous inserts of one id, one makes the row', async (t, { dbs, things }) => {
  const made = await race(20, n => things.insert(dbs[n % dbs.length]!, thing('one', `account ${n}`)))
  t.equal(made.filter(Boolean).length, 1)
})

onBoth('a locked row is changed by one transaction at a time', async (t, { dbs, things }) => {
  await things.insert(dbs[0], thing('one'))
  await race(40, n =>
    dbs[n % dbs.length]!.transaction(async tx => {
      const { count } = (await things.lock(tx, 'ann', 'one')) as Thing
      await rows(tx, 'update gw_things set count = $1 where id = $2', [count + 1, 'one'])
    }),
  )
  t.match(await things.find(dbs[0], 'ann', 'one'), { count: 40 })
})

onBoth(
  "pages give each of an account's rows once, newest first, whatever the size of the page",
  async (_t, { dbs: [db], things }) => {
    const owners = Array.from({ length: 40 }, (_, n) => ['ann', 'bob', 'cid'][(n * 7) % 3] as string)
    const kinds = owners.map((_, n) => (n % 4 === 0 ? 'a' : 'b'))
    for (const [n, owner] of owners.entries()) await things.insert(db, thing(`row ${n}`, owner, kinds[n]))
    const expected = (owner: string, kind?: string): string[] =>
      owners
        .flatMap((each, n) => (each === owner && (kind ?? kinds[n]) === kinds[n] ? [`row ${n}`] : []))
        .toReversed()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('ann', 'bob', 'cid', 'nobody'),
        fc.constantFrom(undefined, 'a', 'b', 'c'),
        fc.integer({ min: 1, max: 15 }),
        async (owner, kind, limit) => {
          const seen: string[] = []
          let after = 0
          for (;;) {
            const page = await things.page(db, owner, { after, limit }, kind === undefined ? {} : { kind })
            seen.push(...page.map(({ id }) => id))
            if (page.length < limit) break
            after = page.at(-1)!.position
          }
          assert.deepEqual(seen, expected(owner, kind))
        },
      ),
      { numRuns: 60 },
    )
  },
)

t.test('a new id is the kind and 32 hexadecimal digits, and never the same', async t => {
  const ids = Array.from({ length: 1000 }, () => newId('card'))
  t.equal(new Set(ids).size, 1000)
  for (const id of ids.slice(0, 20)) t.match(id, /^card_[0-9a-f]{32}$/)
})
