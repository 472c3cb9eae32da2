// The complete adapter of docs/adapters/nonces-and-challenges.md, over a store with conditional put and delete. Runs the suites of its port.
import { GRACE_MS, keyDigest, malformedReply, orFault } from '@gatewright/kernel'
import { collectTests, type FaultyStorage } from '@gatewright/kernel/testing'
import type { ChallengeStorage } from '@gatewright/signature-verifier'
import {
  challengeStorageContract,
  challengeStorageFaults,
  nonceStorageContract,
  nonceStorageFaults,
} from '@gatewright/signature-verifier/testing'

/** The requests of the store. Each evaluates its condition and writes in one atomic step. */
interface Items {
  /** Writes if there is no item, or if its expiry is at most `expiredBy`. Returns whether it wrote. */
  putIf(id: string, expiresAt: number, condition: { expiredBy?: number }): Promise<unknown>
  /** Deletes the item if its expiry is at most `expiredBy`. Returns the expiry, or undefined if it deleted nothing. */
  deleteIf(id: string, condition: { expiredBy?: number }): Promise<unknown>
  /** Ids of at most `limit` items that expired at or before an instant. */
  expired(before: number, limit: number): Promise<readonly string[]>
}

/** The adapter. */
function itemStorage(items: Items): ChallengeStorage {
  const put = async (id: string, expiresAt: number, condition: { expiredBy?: number }): Promise<boolean> => {
    const written = await orFault('items', () => items.putIf(id, expiresAt, condition))
    if (typeof written !== 'boolean') throw malformedReply('items', 'true or false')
    return written
  }
  return {
    claim: (key, expiresAt, now) => put(`nonce:${keyDigest(key)}`, expiresAt, { expiredBy: now }),
    issue: (key, expiresAt) => put(`challenge:${keyDigest(key)}`, expiresAt, {}),
    async consume(key, now) {
      const expiresAt = await orFault('items', () => items.deleteIf(`challenge:${keyDigest(key)}`, {}))
      if (expiresAt === undefined) return false
      if (typeof expiresAt !== 'number') throw malformedReply('items', 'an expiry')
      return now < expiresAt
    },
    async collect(limit, now) {
      const expiredBy = now - GRACE_MS
      const ids = await orFault('items', () => items.expired(expiredBy, limit))
      // Conditional as well: another host may claim the key between the two requests.
      const deleted = ids.map(id => orFault('items', () => items.deleteIf(id, { expiredBy })))
      return (await Promise.all(deleted)).filter(expiry => expiry !== undefined).length
    },
  }
}

/** A store in this process that replies later, as a network would. */
function processItems(): Items {
  const expiries = new Map<string, number>()
  const later = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  return {
    async putIf(id, expiresAt, { expiredBy = -Infinity }) {
      await later()
      const current = expiries.get(id)
      if (current !== undefined && current > expiredBy) return false
      expiries.set(id, expiresAt)
      return true
    },
    async deleteIf(id, { expiredBy = Infinity }) {
      await later()
      const current = expiries.get(id)
      if (current === undefined || current > expiredBy) return undefined
      expiries.delete(id)
      return current
    },
    async expired(before, limit) {
      await later()
      return [...expiries]
        .filter(([, end]) => end <= before)
        .slice(0, limit)
        .map(([id]) => id)
    },
  }
}

/** The same store over connections that break before or after it acts, and over one that garbles the reply. */
async function openFaulty(): Promise<FaultyStorage<ChallengeStorage>> {
  const items = processItems()
  const broken = new Error('connection reset')
  const through = (call: (run: () => Promise<unknown>) => Promise<unknown>): ChallengeStorage =>
    itemStorage({
      ...items,
      putIf: (...args) => call(() => items.putIf(...args)),
      deleteIf: (...args) => call(() => items.deleteIf(...args)),
    })
  return {
    healthy: itemStorage(items),
    cutBefore: through(() => Promise.reject(broken)),
    cutAfter: through(run => run().then(() => Promise.reject(broken))),
    malformed: through(run => run().then(() => 'garbled')),
    close: async () => {},
  }
}

const open = async () => {
  const items = processItems()
  return { connections: [itemStorage(items), itemStorage(items)], close: async () => {} }
}
const tests = collectTests(runner => {
  nonceStorageContract(runner, 'items', open)
  challengeStorageContract(runner, 'items', open)
  nonceStorageFaults(runner, 'items', openFaulty)
  challengeStorageFaults(runner, 'items', openFaulty)
})
for (const { run } of tests) await run()
