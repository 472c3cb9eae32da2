import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type FaultyStorage, isStoreFault, openedTests, type TestRunner } from '@gatewright/kernel/testing'
import type { KeyStorage, SessionStorage } from '../storage/port.ts'
import { keyRecord, sessionRecord, write } from './records.ts'

/** The faults of `KeyStorage`: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function keyStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<KeyStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`KeyStorage faults on ${name}`, () => {
    test('throws a fault when cut before the store acts, and nothing is written', async stores => {
      const account = randomUUID()
      const key = keyRecord(account)
      await assert.rejects(stores.cutBefore.commit(account, 0, write(key)), isStoreFault)
      assert.deepEqual(await stores.healthy.load(account), { revision: 0, keys: [] })
    })

    test('throws a fault when cut after the store acted', async stores => {
      const account = randomUUID()
      await assert.rejects(stores.cutAfter.commit(account, 0, write(keyRecord(account))), isStoreFault)
      const { revision, keys } = await stores.healthy.load(account)
      // A commit of several statements is cut at its first, so it may have taken effect or not, but not by half.
      assert.equal(keys.length, revision)
    })

    test('throws a fault on a malformed reply', async stores => {
      const account = randomUUID()
      const key = keyRecord(account)
      await stores.healthy.commit(account, 0, write(key))
      await assert.rejects(stores.malformed.load(account), isStoreFault)
    })
  })
}

/** The faults of `SessionStorage`: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function sessionStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<SessionStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`SessionStorage faults on ${name}`, () => {
    test('throws a fault when cut before the store acts, and nothing is stored', async stores => {
      const session = sessionRecord()
      await assert.rejects(stores.cutBefore.insert(session, []), isStoreFault)
      assert.equal(await stores.healthy.find(session.sessionId), undefined)
    })

    test('throws a fault when cut after the store acted, and the session is there', async stores => {
      const session = sessionRecord()
      await assert.rejects(stores.cutAfter.insert(session, []), isStoreFault)
      assert.deepEqual(await stores.healthy.find(session.sessionId), session)
    })

    test('throws a fault on a malformed reply', async stores => {
      const session = sessionRecord()
      await stores.healthy.insert(session, [])
      await assert.rejects(stores.malformed.find(session.sessionId), isStoreFault)
    })
  })
}
