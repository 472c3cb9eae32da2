// The complete adapter of docs/adapters/spend.md, over one document per account. Runs the suites of its port.
import { deepEqual } from 'node:assert/strict'
import { GRACE_MS, keyDigest, malformedReply, orFault } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { ReserveOutcome, SpendItem, SpendStorage } from '@gatewright/scope-guard'
import { spendStorageContract, spendStorageFaults } from '@gatewright/scope-guard/testing'

/** An item of a hold: the digest of its counter, its series, and the key that the amount was added to. */
type HeldItem = Pick<SpendItem, 'counter' | 'series' | 'unit' | 'amount'> & { readonly key: string }

/** The counters and holds of one account: counters by digest of their names, those that roll by digest and bucket. */
interface Account {
  readonly counters: Record<string, { used: number; readonly expiresAt: number | null }>
  readonly holds: Record<string, readonly HeldItem[]>
}

const bucketKey = (digest: string, bucket: number): string => `${digest}.${bucket}`

/** What a counter, given by its digest, has in the buckets that count, or without buckets. */
function usedOf({ counters }: Account, digest: string, buckets: SpendItem['buckets']) {
  if (!buckets) return { used: counters[digest]?.used ?? 0 }
  const found: { readonly bucket: number; readonly used: number }[] = []
  for (let bucket = buckets.oldest; bucket <= buckets.newest; bucket++)
    found.push({ bucket, used: counters[bucketKey(digest, bucket)]?.used ?? 0 })
  return { used: found.reduce((sum, { used }) => sum + used, 0), buckets: found }
}

/** Documents with a version. The version of a document that does not exist is 0. */
interface DocumentStore {
  read(key: string): Promise<{ readonly text: string; readonly version: number }>
  /** False if the document has another version. */
  writeIfVersion(key: string, text: string, version: number): Promise<boolean>
}

export function documentStorage(store: DocumentStore): SpendStorage {
  const read = async (key: string): Promise<{ account: Account; version: number }> => {
    const { text, version } = await orFault('document', () => store.read(key))
    try {
      const account = JSON.parse(text === '' ? '{"counters":{},"holds":{}}' : text) as Account
      if (typeof account.counters === 'object' && typeof account.holds === 'object')
        return { account, version }
    } catch {
      // Not JSON.
    }
    throw malformedReply('document', 'counters and holds as JSON')
  }

  /** Changes a document atomically. `change` mutates the account and returns the result, and whether to write. */
  const update = async <T>(
    accountId: string,
    change: (account: Account) => { readonly result: T; readonly write: boolean },
  ): Promise<T> => {
    const key = keyDigest(accountId)
    for (;;) {
      const { account, version } = await read(key)
      const { result, write } = change(account)
      if (!write) return result
      if (await orFault('document', () => store.writeIfVersion(key, JSON.stringify(account), version)))
        return result
    }
  }

  /** Ends a hold; `keep` says how much of an item stays counted. */
  const endHold = ({ counters, holds }: Account, hold: string, keep: (item: HeldItem) => number): void => {
    for (const item of holds[hold] ?? []) {
      const counter = counters[item.key]
      if (counter) counter.used -= item.amount - keep(item)
    }
    delete holds[hold]
  }

  return {
    reserve: (accountId, holdId, given, now) =>
      update<ReserveOutcome>(accountId, account => {
        const { counters, holds } = account
        const items = given.map(item => ({ ...item, counter: keyDigest(item.counter) }))
        const held = items.map(({ counter, unit, amount, buckets, series }): HeldItem => {
          const key = buckets ? bucketKey(counter, buckets.current) : counter
          return { counter, unit, amount, key, ...(series === undefined ? {} : { series }) }
        })
        const usages = () => items.map(({ counter, buckets }) => usedOf(account, counter, buckets))
        const used = (): number[] => usages().map(usage => usage.used)
        const hold = holdId === null ? undefined : keyDigest(holdId)
        const known = hold === undefined ? undefined : holds[hold]
        if (known) {
          // A reservation that is repeated in another bucket or window is the same one.
          const isSame = (one: HeldItem, other: HeldItem | undefined): boolean =>
            (one.counter === other?.counter || (one.series !== undefined && one.series === other?.series)) &&
            one.unit === other.unit &&
            one.amount === other.amount
          const same = known.length === held.length && known.every((item, n) => isSame(item, held[n]))
          return { result: same ? { outcome: 'held', used: used() } : { outcome: 'conflict' }, write: false }
        }
        for (const [index, usage] of usages().entries()) {
          const { amount = 0, cap = 0 } = items[index] ?? {}
          if (usage.used + amount > cap) return { result: { outcome: 'over', index, ...usage }, write: false }
        }
        // Deletes expired counters with each write, so that `collect` has nothing to do.
        for (const [name, { expiresAt }] of Object.entries(counters)) {
          if (expiresAt !== null && expiresAt <= now - GRACE_MS) delete counters[name]
        }
        for (const [index, { key, amount }] of held.entries()) {
          counters[key] = {
            used: (counters[key]?.used ?? 0) + amount,
            expiresAt: items[index]?.expiresAt ?? null,
          }
        }
        if (hold !== undefined) holds[hold] = held
        return { result: { outcome: 'held', used: used() }, write: true }
      }),

    settle: (accountId, holdId, actualCents) =>
      update(accountId, account => {
        const hold = keyDigest(holdId)
        const items = account.holds[hold]
        if (!items) return { result: 'gone', write: false }
        if (items.some(({ unit, amount }) => unit === 'cents' && (actualCents ?? 0) > amount))
          return { result: 'exceeds', write: false }
        endHold(account, hold, ({ unit, amount }) => (unit === 'cents' ? (actualCents ?? amount) : amount))
        return { result: 'settled', write: true }
      }),

    release: (accountId, holdId) =>
      update(accountId, account => {
        const hold = keyDigest(holdId)
        const isHeld = account.holds[hold] !== undefined
        endHold(account, hold, () => 0)
        return { result: isHeld, write: isHeld }
      }),

    async usage(accountId, counters) {
      const { account } = await read(keyDigest(accountId))
      const holds = Object.values(account.holds).flat()
      return counters.map(counter => {
        const { counter: name, buckets } = typeof counter === 'string' ? { counter } : counter
        const digest = keyDigest(name)
        const usage = usedOf(account, digest, buckets)
        const keys = usage.buckets?.map(({ bucket }) => bucketKey(digest, bucket)) ?? [digest]
        const amounts = holds.map(item => (keys.includes(item.key) ? item.amount : 0))
        const held = amounts.reduce((sum, amount) => sum + amount, 0)
        // A counter that expired is deleted before its holds end.
        return { ...usage, held: Math.min(held, usage.used) }
      })
    },

    collect: async () => 0,
  }
}

/** The in-process store. Each call takes a turn of the event loop, so that calls interleave as on a network. */
function inProcessStore(): DocumentStore {
  const documents = new Map<string, { text: string; version: number }>()
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  const current = (key: string) => documents.get(key) ?? { text: '', version: 0 }
  return {
    read: async key => turn().then(() => current(key)),
    async writeIfVersion(key, text, version) {
      await turn()
      if (current(key).version !== version) return false
      documents.set(key, { text, version: version + 1 })
      return true
    },
  }
}

const reset = async (): Promise<never> => Promise.reject(new Error('connection reset'))
const close = async (): Promise<void> => {}
const failures = await failingTests(runner => {
  spendStorageContract(runner, 'documents', async () => {
    const store = inProcessStore()
    // Two adapters over one store, as on two hosts.
    return { connections: [documentStorage(store), documentStorage(store)], expiresNatively: true, close }
  })
  spendStorageFaults(runner, 'documents', async () => {
    const store = inProcessStore()
    return {
      healthy: documentStorage(store),
      cutBefore: documentStorage({ read: reset, writeIfVersion: reset }),
      cutAfter: documentStorage({
        ...store,
        writeIfVersion: async (key, text, version) => store.writeIfVersion(key, text, version).then(reset),
      }),
      malformed: documentStorage({ ...store, read: async () => ({ text: 'not JSON', version: 1 }) }),
      close,
    }
  })
})
deepEqual(failures, [])
