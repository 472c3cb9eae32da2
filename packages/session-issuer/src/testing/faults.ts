import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { FaultyStorage, TestRunner } from '@gatewright/kernel/testing'
import { isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { KeyStorage, SessionStorage } from '../storage/port.ts'
import { keyRecord, sessionRecord, write } from './sample-records.ts'
import { NOW } from './storage-under-test.ts'

/**
 * Fault suite of `KeyStorage`: a failing store, or one whose reply cannot be read, must throw a `Fault` and never
 * return a result.
 */
export function keyStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<KeyStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`KeyStorage faults on ${name}`, () => {
    test('throws a fault when the connection breaks before the store acts, and writes nothing', async stores => {
      const account = randomUUID()
      const key = keyRecord(account)
      await assert.rejects(stores.cutBefore.commit(account, 0, write(key)), isStoreFault)
      assert.deepEqual(await stores.healthy.load(account), { revision: 0, keys: [] })
    })

    test('throws a fault when the connection breaks after the store acted', async stores => {
      const account = randomUUID()
      await assert.rejects(stores.cutAfter.commit(account, 0, write(keyRecord(account))), isStoreFault)
      const { revision, keys } = await stores.healthy.load(account)
      // A commit of several statements breaks at its first one, so it may have taken effect or not, but never in part.
      assert.equal(keys.length, revision)
    })

    test('throws a fault on a malformed reply', async stores => {
      const account = randomUUID()
      const key = keyRecord(account)
      await stores.healthy.commit(account, 0, write(key))
      await assert.rejects(stores.malformed.load(account), isStoreFault)
    })

    test('throws a fault, and returns no empty list, when the connection breaks while keys are read', async stores => {
      const account = randomUUID()
      await stores.healthy.commit(account, 0, write(keyRecord(account)))
      await assert.rejects(stores.cutBefore.load(account), isStoreFault)
    })
  })
}

/**
 * Fault suite of `SessionStorage`: a failing store, or one whose reply cannot be read, must throw a `Fault` and never
 * return a result.
 */
export function sessionStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<SessionStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`SessionStorage faults on ${name}`, () => {
    test('throws a fault when the connection breaks before the store acts, and stores nothing', async stores => {
      const session = sessionRecord()
      await assert.rejects(stores.cutBefore.insert(session, []), isStoreFault)
      assert.equal(await stores.healthy.find(session.sessionId), undefined)
    })

    test('throws a fault when the connection breaks after the store acted, and the session is stored', async stores => {
      const session = sessionRecord()
      await assert.rejects(stores.cutAfter.insert(session, []), isStoreFault)
      assert.deepEqual(await stores.healthy.find(session.sessionId), session)
    })

    test('throws a fault on a malformed reply', async stores => {
      const session = sessionRecord()
      await stores.healthy.insert(session, [])
      await assert.rejects(stores.malformed.find(session.sessionId), isStoreFault)
    })

    test('throws a fault when the connection breaks while a session is read or revoked', async stores => {
      const session = sessionRecord()
      await stores.healthy.insert(session, [])
      await assert.rejects(stores.cutBefore.revoke(session.sessionId, NOW), isStoreFault)
      await assert.rejects(stores.cutBefore.find(session.sessionId), isStoreFault)
      assert.deepEqual(await stores.healthy.find(session.sessionId), session)
    })
  })
}
