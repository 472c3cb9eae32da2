import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { openedTests } from '@gatewright/kernel/internal/testing'
import type { AuditEntry, AuditPosition } from '../storage/audit-port.ts'
import type { IssuerStorage } from '../storage/port.ts'
import { auditEntry, childOf, keyRecord, sessionRecord, write, policyIdOf } from './sample-records.ts'
import {
  connection,
  HOSTILE_TEXTS,
  MINUTE,
  NOW,
  countTrue,
  type CredentialsUnderTest,
} from './storage-under-test.ts'

const ALL = { at: Number.MAX_SAFE_INTEGER }

/** Contract suite of `AuditStorage` and of the storages that write to it. `open` is called once per test. */
export function auditContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<CredentialsUnderTest<IssuerStorage>>,
): void {
  const test = openedTests(runner, open)
  const rowsOf = (
    store: CredentialsUnderTest<IssuerStorage>,
    accountId: string,
  ): Promise<readonly AuditEntry[]> => connection(store, 1).audit.list(accountId, 1000, ALL)

  runner.describe(`AuditStorage on ${name}`, () => {
    test('keeps the rows of the commit that wins, and none of those that lost', async store => {
      const account = randomUUID()
      const rows = Array.from({ length: 20 }, () => [auditEntry(account), auditEntry(account)])
      const results = await race(20, index =>
        connection(store, index).keys.commit(account, 0, {
          ...write(keyRecord(account)),
          audit: rows[index] ?? [],
        }),
      )
      assert.equal(countTrue(results), 1)
      const won = rows[results.indexOf(true)] as AuditEntry[]
      assert.deepEqual(byId(await rowsOf(store, account)), byId(won))
    })

    test('keeps the row of a stored session, and none of a denied one', async store => {
      const root = sessionRecord()
      const child = childOf(root)
      const { accountId } = root
      const rows = [root, child, root, child].map(() => auditEntry(accountId)) as [
        AuditEntry,
        ...AuditEntry[],
      ]
      const policy = { id: policyIdOf(accountId), document: {} }
      assert.equal(await connection(store, 0).sessions.insert(root, [], rows[0]), true)
      assert.equal(await connection(store, 1).sessions.insert(child, [policy], rows[1]), true)
      assert.deepEqual(byId(await rowsOf(store, accountId)), byId(rows.slice(0, 2)))
      assert.equal(await connection(store, 0).sessions.revoke(root.sessionId, NOW, rows[2]), 2)
      assert.equal(await connection(store, 1).sessions.insert(childOf(root), [policy], rows[3]), false)
      assert.deepEqual(byId(await rowsOf(store, accountId)), byId(rows.slice(0, 3)))
    })

    test('keeps one row of simultaneous revocations, and none where nothing was live', async store => {
      const session = sessionRecord()
      const { accountId, sessionId } = session
      await connection(store, 0).sessions.insert(session, [])
      await race(20, index => connection(store, index).sessions.revoke(sessionId, NOW, auditEntry(accountId)))
      await connection(store, 0).sessions.revoke(randomUUID(), NOW, auditEntry(accountId))
      assert.equal((await rowsOf(store, accountId)).length, 1)
    })

    test('lists rows of one account from before an instant, newest first, up to the limit', async store => {
      const account = randomUUID()
      const rows = [1, 2, 3].map(n => auditEntry(account, { at: NOW + n, scopes: n === 2 ? null : ['é'] }))
      const audit = [rows[1], rows[0], rows[2]] as AuditEntry[]
      await connection(store, 0).keys.commit(account, 0, { ...write(keyRecord(account)), audit })
      const { audit: port } = connection(store, 1)
      assert.deepEqual(await port.list(account, 10, ALL), rows.toReversed())
      assert.deepEqual(await port.list(account, 2, { at: NOW + 3 }), [rows[1], rows[0]])
      assert.deepEqual(await port.list(account, 1, ALL), [rows[2]])
      assert.deepEqual(await port.list(randomUUID(), 10, ALL), [])
    })

    test('lists each row once by pages that begin after the last row, many rows of one instant too', async store => {
      const account = randomUUID()
      const rows = Array.from({ length: 9 }, (_, n) => auditEntry(account, { at: NOW + Math.floor(n / 5) }))
      await connection(store, 0).keys.commit(account, 0, { ...write(keyRecord(account)), audit: rows })
      const expected = rows.toSorted((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
      for (const limit of [1, 2, 4]) {
        const listed: AuditEntry[] = []
        for (
          let page = [ALL] as readonly AuditPosition[];
          page.length > 0;
          listed.push(...(page as AuditEntry[]))
        )
          page = await connection(store, 1).audit.list(account, limit, page.at(-1) as AuditPosition)
        assert.deepEqual(listed, expected)
      }
      assert.deepEqual(await connection(store, 0).audit.list(account, 9, { at: NOW + 1 }), expected.slice(4))
    })

    test('keeps accounts apart whose ids differ in case, spaces, control characters or length', async store => {
      const run = randomUUID()
      const rows = HOSTILE_TEXTS.map(text => auditEntry(run + text, { target: text }))
      for (const row of rows) {
        await connection(store, 0).keys.commit(row.accountId, 0, { ...write(), audit: [row] })
      }
      for (const row of rows) assert.deepEqual(await rowsOf(store, row.accountId), [row])
    })

    test('keeps a row until its expiry, and collects at most `limit` rows', async store => {
      const account = randomUUID()
      const kept = { expiresAt: NOW + MINUTE }
      const audit = Array.from({ length: 3 }, () => auditEntry(account, kept))
      await connection(store, 0).keys.commit(account, 0, { ...write(keyRecord(account)), audit })
      await connection(store, 0).audit.collect(1000, NOW + MINUTE - 1)
      assert.equal((await rowsOf(store, account)).length, 3)
      assert.ok((await connection(store, 1).audit.collect(2, NOW + MINUTE)) <= 2)
      for (let round = 0; round < 20; round++) await connection(store, round).audit.collect(2, NOW + MINUTE)
      const { revision } = await connection(store, 0).keys.load(account)
      const later = auditEntry(account, { at: NOW + MINUTE, expiresAt: NOW + 2 * MINUTE })
      await connection(store, 1).keys.commit(account, revision, { ...write(), audit: [later] })
      assert.deepEqual(await rowsOf(store, account), [later])
    })
  })
}

function byId(rows: readonly AuditEntry[]): readonly AuditEntry[] {
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}
