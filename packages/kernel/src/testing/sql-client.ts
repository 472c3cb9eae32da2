import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { toFault, Fault } from '../fault.ts'
import {
  affected,
  defer,
  rows,
  toInteger,
  type SqlClient,
  type SqlDialect,
  type SqlQueries,
} from '../clients/sql-client.ts'
import { withinTransactionScope } from '../clients/transaction-scope.ts'
import { migrate } from '../clients/migrate.ts'
import { isStoreFault } from './suite.ts'
import { race } from './race.ts'
import type { TestRunner } from './runner.ts'
import { withTimeLimit } from './time-limit.ts'

/** Clients over one database, and what closes them. */
export interface OpenedClients {
  /** One or more. Use several real connections or pools of two connections each, if the database allows them. */
  readonly connections: readonly SqlClient[]
  close(): Promise<void>
}

type Run = (connection: (index: number) => SqlClient, table: string, words: Words) => Promise<void>

/** The types of columns, and those that a value is cast to, on a store. */
interface Words {
  readonly dialect: SqlDialect
  readonly id: string
  readonly bytes: string
  readonly text: string
  readonly integer: string
  /** A type that a text is stored as in its own form. */
  readonly json: string
}

const WORDS: Readonly<Record<SqlDialect, Omit<Words, 'dialect'>>> = {
  postgres: { id: 'text', bytes: 'bytea', text: 'text', integer: 'bigint', json: 'jsonb' },
  sqlite: { id: 'text', bytes: 'blob', text: 'text', integer: 'bigint', json: 'text' },
  mariadb: { id: 'varchar(255)', bytes: 'blob', text: 'char', integer: 'signed', json: 'char' },
}

/**
 * Defines the contract tests of `SqlClient`. Run them against every client of your own, or over an ORM. `open` is called once per test.
 * Each test makes and drops a table with a random name, so the database may be shared.
 */
export function sqlClientContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<OpenedClients>,
): void {
  const { describe, it } = withTimeLimit(runner)
  const test = (title: string, run: Run): void =>
    it(title, async () => {
      const { connections, close } = await open()
      const connection = (index: number): SqlClient => connections[index % connections.length] as SqlClient
      const { dialect } = connection(0)
      const words = { dialect, ...WORDS[dialect] }
      const table = `contract_${randomBytes(8).toString('hex')}`
      try {
        await connection(0).query(
          `create table ${table} (id ${words.id} primary key, amount bigint not null)`,
        )
        await run(connection, table, words)
      } finally {
        await connection(0).query(`drop table if exists ${table}`)
        await close()
      }
    })
  describe(`SqlClient on ${name}`, () => {
    statements(test)
    transactions(test)
    conflicts(test)
    migrations(test)
  })
}

type DefineTest = (title: string, run: Run) => void

const insert = (table: string): string => `insert into ${table} (id, amount) values ($1, $2)`

async function idsOf(db: SqlQueries, table: string): Promise<unknown[]> {
  return (await rows(db, `select id from ${table} order by id`)).map(row => row['id'])
}

function statements(test: DefineTest): void {
  test('returns rows by column name, with texts, integers, bytes and nulls as they were sent', async (connection, _table, {
    text,
    integer,
  }) => {
    const texts = ['', "it's", 'a"b\\c', 'é\u0301\u{1f600}', '?', '$1', ':a', '{1,2}', '{"a":1}', 'true']
    for (const value of texts) {
      const [row] = await rows(
        connection(0),
        `select cast($1 as ${text}) as first, cast($2 as ${text}) as second_one`,
        [value, null],
      )
      assert.deepEqual({ ...row }, { first: value, second_one: null })
    }
    for (const amount of [0, -1, Number.MAX_SAFE_INTEGER, 9_007_199_254_740_993n]) {
      const [row] = await rows(connection(0), `select cast(cast($1 as ${integer}) as ${text}) as n`, [amount])
      assert.equal(row?.['n'], String(amount))
    }
    const [row] = await rows(connection(0), `select cast($1 as ${integer}) as n`, [42])
    assert.equal(toInteger(row?.['n']), 42)
  })

  test('returns bytes as they were sent', async (connection, table, { bytes: type }) => {
    await rows(connection(0), `alter table ${table} add column data ${type}`)
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    await rows(connection(0), `insert into ${table} (id, amount, data) values ($1, $2, $3)`, ['a', 1, bytes])
    const [row] = await rows(connection(0), `select data from ${table}`)
    // A driver may return a list of bytes or an `ArrayBuffer`.
    assert.deepEqual([...Buffer.from(row?.['data'] as Uint8Array)], [...bytes])
  })

  test('sends a text as a value of the type that the statement expects', async (connection, _table, {
    dialect,
    json,
    text: textType,
  }) => {
    const [row] = await rows(connection(0), `select cast(cast($1 as ${json}) as ${textType}) as json`, [
      '{"a": [1]}',
    ])
    assert.equal(row?.['json'], '{"a": [1]}')
    if (dialect !== 'postgres') return
    const text =
      'select cast(cast($1 as text[]) as text) as list, cast($2 as boolean) as yes, cast($3 as int) as n'
    const [other] = await rows(connection(0), text, ['{a,b}', 'true', 7])
    assert.deepEqual({ ...other }, { list: '{a,b}', yes: true, n: 7 })
  })

  test('binds parameters by their numbers, in any order and repeatedly', async (connection, _table, {
    text: type,
  }) => {
    const text = `select cast($2 as ${type}) as b, cast($1 as ${type}) as a, cast($2 as ${type}) as again, '?' as mark`
    const [row] = await rows(connection(0), text, ['one', 'two'])
    assert.deepEqual({ ...row }, { b: 'two', a: 'one', again: 'two', mark: '?' })
    const numbers = Array.from({ length: 11 }, (_, index) => String(11 - index))
    const many = await rows(
      connection(0),
      `select ${numbers.map(n => `cast($${n} as ${type}) as c${n}`).join(', ')}`,
      numbers.toReversed(),
    )
    assert.deepEqual(
      numbers.map(n => many[0]?.[`c${n}`]),
      numbers,
    )
  })

  test('returns the rows of a write that returns some, and no rows of another one', async (connection, table) => {
    const returning = await rows(connection(0), `${insert(table)} returning id`, ['a', 1])
    assert.deepEqual(
      returning.map(row => ({ ...row })),
      [{ id: 'a' }],
    )
    assert.deepEqual(await rows(connection(0), `update ${table} set amount = amount + 1`), [])
    assert.deepEqual(await rows(connection(0), `select id from ${table} where id = $1`, ['b']), [])
  })

  test('counts the rows of a write where it cannot return them, also those that it does not change', async (connection, table, {
    dialect,
  }) => {
    if (dialect !== 'mariadb') return
    const check = async (on: SqlQueries): Promise<void> => {
      assert.equal(await affected(on, `insert into ${table} (id, amount) values ('a', 1), ('b', 1)`), 2)
      const update = `update ${table} set amount = 1 where id <= $1`
      assert.equal(await affected(on, update, ['b']), 2)
      assert.equal(await affected(on, update, ['']), 0)
      assert.equal(await affected(on, `delete from ${table}`), 2)
    }
    await check(connection(0))
    await connection(0).transaction(check)
  })

  test('rejects a statement that fails with a fault, whose cause is the error of the driver', async (connection, table, {
    dialect,
  }) => {
    await rows(connection(0), insert(table), ['a', 1])
    const check = async (on: SqlQueries): Promise<void> => {
      const error = await on.query(insert(table), ['a', 2]).then(
        () => assert.fail('the statement must fail'),
        (reason: unknown) => reason,
      )
      const fault = toFault('database', error)
      assert.equal(fault.code, 'ERR_STORE_UNAVAILABLE')
      assert.ok(fault.cause instanceof Error)
      if (dialect === 'postgres') assert.equal((fault.cause as { code?: unknown }).code, '23505')
    }
    await check(connection(0))
    await assert.rejects(
      connection(0).transaction(async tx => {
        await check(tx)
        throw new Error('roll back')
      }),
      { message: 'roll back' },
    )
  })
}

function transactions(test: DefineTest): void {
  test('commits what a transaction wrote, and returns the result of its work', async (connection, table) => {
    const result = await connection(0).transaction(async tx => {
      await rows(tx, insert(table), ['a', 1])
      await defer(tx, insert(table), ['b', 2])
      assert.deepEqual(await idsOf(tx, table), ['a', 'b'])
      await defer(tx, insert(table), ['c', 3])
      return 'result'
    })
    assert.equal(result, 'result')
    assert.deepEqual(await idsOf(connection(1), table), ['a', 'b', 'c'])
  })

  test('rolls back what a transaction wrote when its work rejects, and rethrows its error', async (connection, table) => {
    const error = new Error('no')
    const failing = connection(0).transaction(async tx => {
      await rows(tx, insert(table), ['a', 1])
      throw error
    })
    await assert.rejects(failing, thrown => thrown === error)
    assert.deepEqual(await idsOf(connection(1), table), [])
    await connection(0).transaction(async tx => rows(tx, insert(table), ['b', 1]))
    assert.deepEqual(await idsOf(connection(1), table), ['b'])
  })

  test('sends BEGIN late without changing what a transaction does', async (connection, table) => {
    await connection(0).transaction(async () => undefined, { lazyBegin: true })
    const failing = connection(0).transaction(
      async tx => {
        await rows(tx, insert(table), ['a', 1])
        throw new Error('no')
      },
      { lazyBegin: true },
    )
    await assert.rejects(failing, { message: 'no' })
    await connection(0).transaction(tx => rows(tx, insert(table), ['b', 1]), { lazyBegin: true })
    assert.deepEqual(await idsOf(connection(1), table), ['b'])
  })

  test('hides the rows of an open transaction from others', async (connection, table) => {
    let seen: Promise<unknown[]> | undefined
    await connection(0).transaction(async tx => {
      await rows(tx, insert(table), ['a', 1])
      // On one connection it waits for the transaction. Elsewhere it reads beside it.
      seen = idsOf(connection(1), table)
      if (connection(0) !== connection(1)) assert.deepEqual(await seen, [])
    })
    await seen
    assert.deepEqual(await idsOf(connection(1), table), ['a'])
  })

  test('rejects statements of a transaction that has ended', async (connection, table) => {
    const ended: SqlQueries[] = []
    await connection(0).transaction(async tx => {
      ended.push(tx)
    })
    const failing = connection(0).transaction(async tx => {
      ended.push(tx)
      throw new Error('roll back')
    })
    await assert.rejects(failing, { message: 'roll back' })
    assert.equal(ended.length, 2)
    for (const late of ended) await assert.rejects(async () => late.query(insert(table), ['a', 1]))
    assert.deepEqual(await idsOf(connection(0), table), [])
  })

  test('never reports a commit that did not happen: after a failed statement, also one whose error was swallowed', async (connection, table) => {
    const outcome = await connection(0)
      .transaction(async tx => {
        await rows(tx, insert(table), ['a', 1])
        await rows(tx, insert(table), ['a', 2]).catch(() => undefined)
      })
      .then(
        () => 'committed',
        () => 'rolled back',
      )
    assert.deepEqual(await idsOf(connection(1), table), outcome === 'committed' ? ['a'] : [])
  })

  test('loses none of 40 simultaneous transactions that each read and write a row', async (connection, table) => {
    await rows(connection(0), insert(table), ['n', 0])
    await race(40, index =>
      connection(index).transaction(async tx => {
        await rows(tx, `update ${table} set amount = amount + 0 where id = 'n'`)
        const [row] = await rows(tx, `select amount from ${table} where id = 'n'`)
        await rows(tx, `update ${table} set amount = $1 where id = 'n'`, [toInteger(row?.['amount']) + 1])
      }),
    )
    const [row] = await rows(connection(0), `select amount from ${table}`)
    assert.equal(toInteger(row?.['amount']), 40)
  })

  test('rejects the client itself within the scope of its own transaction, and accepts it after that', async (connection, table) => {
    const db = connection(0)
    const outside = (error: unknown): boolean =>
      error instanceof Fault && error.code === 'ERR_OUTSIDE_TRANSACTION'
    await db.transaction(tx =>
      withinTransactionScope(db, async () => {
        await assert.rejects(async () => db.query(insert(table), ['a', 1]), outside)
        await assert.rejects(async () => db.transaction(async () => undefined), outside)
        await rows(tx, insert(table), ['b', 1])
      }),
    )
    assert.deepEqual(await idsOf(db, table), ['b'])
  })
}

function conflicts(test: DefineTest): void {
  test('reports a conflict of two transactions with SQLSTATE 40001, and commits one of them', async (connection, table, {
    dialect,
  }) => {
    if (dialect !== 'postgres') return
    await rows(connection(0), insert(table), ['n', 0])
    const update = `update ${table} set amount = amount + 1`
    const conflicting = connection(0).transaction(async tx => {
      await rows(tx, 'set transaction isolation level repeatable read')
      await idsOf(tx, table)
      await rows(connection(1), update)
      await rows(tx, update)
    })
    await assert.rejects(conflicting, (error: unknown) => {
      assert.ok(isStoreFault(error))
      return (error as { cause?: { code?: unknown } }).cause?.code === '40001'
    })
    const [row] = await rows(connection(0), `select amount from ${table}`)
    assert.equal(toInteger(row?.['amount']), 1)
  })
}

function migrations(test: DefineTest): void {
  test('creates tables once when 4 callers migrate simultaneously', async (connection, table) => {
    const prefix = `${table}_`
    const ddl = '-- version 1\ncreate table {prefix}rows (id {id} primary key) {reference};\n'
    try {
      await race(4, index => migrate(connection(index), { namespace: 'contract', ddl }, prefix))
      await rows(connection(0), `insert into ${prefix}rows (id) values ($1)`, ['a'])
      assert.deepEqual(await idsOf(connection(1), `${prefix}rows`), ['a'])
    } finally {
      for (const made of ['rows', 'migrations', 'lock_rows'])
        await rows(connection(0), `drop table if exists ${prefix}${made}`)
    }
  })
}
