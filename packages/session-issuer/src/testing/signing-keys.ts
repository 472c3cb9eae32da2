import assert from 'node:assert/strict'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { openedTests } from '@gatewright/kernel/internal/testing'
import { generateSigningKey } from '../signing/generate-key.ts'
import type { SigningKey, SigningKeyStorage } from '../storage/signing-port.ts'
import { connection, NOW, countTrue, type CredentialsUnderTest } from './storage-under-test.ts'

/** Contract suite of a `SigningKeyStorage` that can be written. `open` is called once per test, for an empty store. */
export function signingKeyStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<CredentialsUnderTest<SigningKeyStorage>>,
): void {
  const test = openedTests(runner, open)
  const newSigningKey = async (): Promise<SigningKey> => ({
    ...(await generateSigningKey('EdDSA')),
    activatesAt: NOW,
    retiresAt: NOW + 1,
    dropsAt: null,
  })

  runner.describe(`SigningKeyStorage on ${name}`, () => {
    test('is empty at revision 0, then returns the set that was stored last', async store => {
      assert.deepEqual(await connection(store, 0).load(), { revision: 0, keys: [] })
      const [first, second] = [await newSigningKey(), await newSigningKey()]
      assert.equal(await connection(store, 0).replace(0, [first]), true)
      assert.deepEqual(await connection(store, 1).load(), { revision: 1, keys: [first] })
      assert.equal(await connection(store, 1).replace(1, [second, first]), true)
      assert.deepEqual(await connection(store, 0).load(), { revision: 2, keys: [second, first] })
    })

    test('lets one of 50 simultaneous first writes win', async store => {
      const key = await newSigningKey()
      assert.equal(countTrue(await race(50, index => connection(store, index).replace(0, [key]))), 1)
    })

    test('lets one of 50 simultaneous replacements win, and refuses an old revision', async store => {
      const key = await newSigningKey()
      await connection(store, 0).replace(0, [])
      assert.equal(countTrue(await race(50, index => connection(store, index).replace(1, [key]))), 1)
      assert.equal(await connection(store, 0).replace(1, []), false)
      assert.equal((await connection(store, 0).load()).revision, 2)
    })
  })
}
