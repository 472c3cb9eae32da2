import assert from 'node:assert/strict'
import { keyDigest } from '@gatewright/kernel'
import type { FaultyStorage, TestRunner } from '@gatewright/kernel/testing'
import { isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { ApprovalStorage } from '../storage/approvals-port.ts'

const NOW = 1_767_225_600_000

/**
 * Declares the tests of the faults of `ApprovalStorage`, for stores with connections. An unavailable store and a malformed reply
 * must be a `Fault`, and never an approval.
 */
export function approvalStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<ApprovalStorage>>,
): void {
  const test = openedTests(runner, open)
  const id = `apr_${keyDigest('a')}`
  const ask = (accountId: string) => ({
    id,
    request: {
      accountId,
      keyId: 'key_1',
      operation: 'payments.create',
      payee: [],
      amountCents: 1,
      currency: 'USD',
      policyIds: [],
    },
    requestedAt: NOW,
    expiresAt: NOW + 1000,
  })
  const approve = { state: 'approved', by: 'owner' } as const

  runner.describe(`ApprovalStorage faults on ${name}`, () => {
    test('throws if the connection is cut before it asks, and nothing is open', async (stores, account) => {
      await assert.rejects(stores.cutBefore.open(ask(account), 5), isStoreFault)
      assert.deepEqual(await stores.healthy.list(account, NOW), [])
    })

    test('throws if the connection is cut after it asked; a repeat finds the approval', async (stores, account) => {
      await assert.rejects(stores.cutAfter.open(ask(account), 5), isStoreFault)
      assert.equal((await stores.healthy.open(ask(account), 5)).outcome, 'known')
    })

    test('throws if a decision is cut before it took effect, and the approval is pending', async (stores, account) => {
      await stores.healthy.open(ask(account), 5)
      await assert.rejects(stores.cutBefore.decide(account, id, approve, NOW), isStoreFault)
      assert.equal((await stores.healthy.find(account, id, NOW))?.state, 'pending')
    })

    test('throws if a decision is cut after it took effect; a repeat learns of it', async (stores, account) => {
      await stores.healthy.open(ask(account), 5)
      await assert.rejects(stores.cutAfter.decide(account, id, approve, NOW), isStoreFault)
      assert.equal((await stores.healthy.decide(account, id, approve, NOW)).outcome, 'already')
    })

    test('throws if a use is cut after it took effect; its effect can repeat it', async (stores, account) => {
      await stores.healthy.open(ask(account), 5)
      await stores.healthy.decide(account, id, approve, NOW)
      await assert.rejects(stores.cutAfter.use(account, id, 'e', NOW), isStoreFault)
      assert.equal(await stores.healthy.use(account, id, 'other', NOW), false)
      assert.equal(await stores.healthy.use(account, id, 'e', NOW), true)
    })

    test('throws if a use is cut before it took effect, and reports no use', async (stores, account) => {
      await stores.healthy.open(ask(account), 5)
      await stores.healthy.decide(account, id, approve, NOW)
      await assert.rejects(stores.cutBefore.use(account, id, 'e', NOW), isStoreFault)
      assert.equal((await stores.healthy.find(account, id, NOW))?.state, 'approved')
    })

    test('throws on a malformed reply', async (stores, account) => {
      await stores.healthy.open(ask(account), 5)
      await assert.rejects(stores.malformed.open(ask(account), 5), isStoreFault)
      await assert.rejects(stores.malformed.find(account, id, NOW), isStoreFault)
      await assert.rejects(stores.malformed.list(account, NOW), isStoreFault)
      await assert.rejects(stores.malformed.decide(account, id, approve, NOW), isStoreFault)
    })
  })
}
