import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { connectionTests } from '@gatewright/kernel/internal/testing'
import type { AliasUsage, AliasUsageStorage } from '../storage/port.ts'
import { NOW, rowsOf, use } from './rows.ts'

const DAY = 86_400_000

/** Different texts that an adapter could confuse or change. */
const SPECIAL_TEXTS = [
  'a',
  'A',
  ' a',
  'a ',
  "'; drop table gw_alias_usage; --",
  '{tag}:*',
  '%_',
  '"},{"',
  '\\n',
  'a:b',
  'a,b',
  '-',
  '+',
  '[x',
  '(x',
  '~'.repeat(256),
]

/**
 * Defines the contract tests of `AliasUsageStorage`. Run them against every adapter. `open` is called once per test. It
 * returns the adapter over one or more connections to one store; use several real connections if there are any. The store
 * may be shared between tests, because names are random.
 */
export function aliasUsageStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<{
    readonly connections: readonly AliasUsageStorage[]
    /** Closes what `open` opened. */
    close(): Promise<void>
  }>,
): void {
  const test = connectionTests(runner, open)
  const batch = (rows: readonly AliasUsage[], writer: string = randomUUID(), sequence = 1) => ({
    writer,
    sequence,
    rows,
  })

  runner.describe(`AliasUsageStorage on ${name}`, () => {
    test('adds counts and keeps the first and last instant, in any order of batches', async (connection, alias) => {
      const pair = [`${alias}x`, 'key'] as const
      for (const [index, when] of [NOW, NOW + 5, NOW - 5].entries()) {
        assert.equal(await connection(index).add(batch([use(...pair, index + 1, when)]), NOW), true)
      }
      assert.deepEqual(await rowsOf(connection(1), alias), [
        { alias: pair[0], caller: 'key', count: 6, firstSeen: NOW - 5, lastSeen: NOW + 5 },
      ])
    })

    test('counts a repeated batch once, and returns false', async (connection, alias) => {
      const sent = batch([use(`${alias}x`, 'key', 3)])
      assert.equal(await connection(0).add(sent, NOW), true)
      assert.equal(await connection(1).add(sent, NOW), false)
      assert.equal((await rowsOf(connection(0), alias))[0]?.count, 3)
    })

    test('adds a batch once in 50 simultaneous calls', async (connection, alias) => {
      const sent = batch([use(`${alias}x`, 'key')])
      const results = await race(50, index => connection(index).add(sent, NOW))
      assert.equal(results.filter(added => added).length, 1)
      assert.equal((await rowsOf(connection(0), alias))[0]?.count, 1)
    })

    test('loses no count of 50 simultaneous writers that add rows in opposite orders', async (connection, alias) => {
      const rows = Array.from({ length: 20 }, (_, index) => use(`${alias}${index}`, 'key'))
      await race(50, index => connection(index).add(batch(index % 2 ? rows : [...rows].reverse()), NOW))
      const counts = (await rowsOf(connection(0), alias)).map(({ count }) => count)
      assert.deepEqual(
        counts,
        Array.from({ length: 20 }, () => 50),
      )
    })

    test('distinguishes batches of two writers with the same number', async (connection, alias) => {
      const writer = randomUUID()
      const rows = [use(`${alias}x`, 'key')]
      assert.equal(await connection(0).add(batch(rows, writer, 1), NOW), true)
      assert.equal(await connection(1).add(batch(rows, writer, 2), NOW), true)
      assert.equal(await connection(0).add(batch(rows, writer, 1), NOW), false)
      assert.equal(await connection(1).add(batch(rows, `${writer}2`, 1), NOW), true)
      assert.equal((await rowsOf(connection(0), alias))[0]?.count, 3)
    })

    test('adds a batch of 500 rows and pages through it in order', async (connection, alias) => {
      const rows = Array.from({ length: 500 }, (_, index) => use(`${alias}${index % 7}`, `key ${index}`))
      await connection(0).add(batch(rows), NOW)
      const sorted = rows.map(row => `${row.alias}\n${row.caller}`).sort()
      const found = await rowsOf(connection(1), alias, 64)
      assert.deepEqual(
        found.map(row => `${row.alias}\n${row.caller}`),
        sorted,
      )
    })

    test('distinguishes special texts and returns them unchanged', async (connection, alias) => {
      const rows = SPECIAL_TEXTS.flatMap(one =>
        SPECIAL_TEXTS.map(other => use(`${alias}${one}`.slice(0, 256), other)),
      )
      await connection(0).add(batch(rows), NOW)
      await connection(1).add(batch(rows), NOW)
      const found = await rowsOf(connection(0), alias, 100)
      assert.deepEqual(
        new Set(found.map(row => JSON.stringify([row.alias, row.caller, row.count]))).size,
        rows.length,
      )
      assert.ok(found.every(({ count }) => count === 2))
      assert.deepEqual(new Set(found.map(row => row.caller)), new Set(SPECIAL_TEXTS))
    })

    test('stores counts and instants up to the largest safe integer', async (connection, alias) => {
      const large = Number.MAX_SAFE_INTEGER - 1
      await connection(0).add(batch([use(`${alias}x`, 'key', large, NOW)]), NOW)
      await connection(1).add(batch([use(`${alias}x`, 'key', 1, 8_640_000_000_000_000)]), NOW)
      assert.deepEqual(await rowsOf(connection(0), alias), [
        {
          alias: `${alias}x`,
          caller: 'key',
          count: large + 1,
          firstSeen: NOW,
          lastSeen: 8_640_000_000_000_000,
        },
      ])
    })

    test('collects at most the given number of rows, and none seen at or after the instant', async (connection, alias) => {
      // Older than the rows of all other tests, so that the tests can share a store.
      const old = NOW - 9_000 * DAY
      const rows = ['a', 'b', 'c'].map(part => use(`${alias}${part}`, 'key', 1, old - 1))
      await connection(0).add(batch([...rows, use(`${alias}d`, 'key', 1, old)]), NOW)
      const counts = await race(4, index => connection(index).collect(1, old))
      assert.ok(
        counts.every(count => count === 0 || count === 1),
        `each call may collect at most 1, not ${counts.join()}`,
      )
      await connection(0).collect(1000, old)
      assert.deepEqual(
        (await rowsOf(connection(1), alias)).map(row => row.alias),
        [`${alias}d`],
      )
    })
  })
}
