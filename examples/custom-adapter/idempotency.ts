// The complete adapter of docs/adapters/idempotency.md, over a table with conditional writes. Runs the suites of its port.
import { deepEqual } from 'node:assert/strict'
import type { IdempotencyStorage, RunRecord } from '@gatewright/idempotency-store'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import { GRACE_MS, malformedReply, orFault } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'

/** The record of a key, with its response and a version. */
interface Item extends RunRecord {
  readonly version: number
  readonly response: string
}

/** A key-value table with conditional writes. */
interface Table {
  get(key: string): Promise<unknown>
  /** Writes the item if the stored one has this version (0: no item is stored). False if another writer was first. */
  putIfVersion(key: string, item: Item, version: number): Promise<unknown>
  deleteIfVersion(key: string, version: number): Promise<unknown>
  /** The running items in the order of their begins, then of their keys: a query of an index on (state, beganAt, key). */
  running(): Promise<unknown>
  /** The keys of done and free items with `until <= cutoff`: a query of an index on (state, until). */
  endedBefore(cutoff: number, limit: number): Promise<string[]>
}

export function tableStorage(table: Table): IdempotencyStorage {
  const read = async (key: string): Promise<Item | undefined> => {
    const item = (await orFault('table', () => table.get(key))) as Item | undefined
    if (item !== undefined && typeof item.version !== 'number') throw malformedReply('table', 'an item')
    return item
  }
  /** True if the item was written, false if another writer was first. */
  const write = async (key: string, item: Omit<Item, 'version'>, version: number): Promise<boolean> => {
    const written = await orFault('table', () =>
      table.putIfVersion(key, { ...item, version: version + 1 }, version),
    )
    if (typeof written !== 'boolean') throw malformedReply('table', 'a boolean')
    return written
  }

  /** Changes the item of a run that is running and has this fence. Undefined if there is no such run, or `change` refuses. */
  const change = async (
    key: string,
    fence: number,
    changed: (item: Item) => Item | undefined,
  ): Promise<Item | undefined> => {
    for (;;) {
      const item = await read(key)
      const next = item?.fence === fence && item.state === 'running' ? changed(item) : undefined
      if (!item || !next) return undefined
      if (await write(key, next, item.version)) return next
    }
  }
  const record = ({ version: _version, response: _response, ...rest }: Item): RunRecord => rest

  return {
    async begin(key, fingerprint, leaseUntil, now, label = { operation: '', account: '' }) {
      for (;;) {
        const item = await read(key)
        const hasEnded = !item || item.state === 'free' || (item.state === 'done' && item.until <= now)
        if (!hasEnded) {
          if (item.fingerprint !== fingerprint) return { state: 'reused' }
          if (item.state === 'done') return { state: 'done', response: item.response, expiresAt: item.until }
          return now < item.until ? { state: 'running' } : { state: 'lost', fence: item.fence }
        }
        const fence = item ? Math.max(item.fence + 1, now) : now
        const run = {
          key,
          fingerprint,
          fence,
          ...label,
          beganAt: now,
          state: 'running',
          until: leaseUntil,
          decision: item?.decision ?? null,
          response: '',
        } as const
        if (await write(key, run, item?.version ?? 0)) return { state: 'started', fence }
      }
    },

    async end(key, fence, ending) {
      for (;;) {
        const item = await read(key)
        if (!item || item.fence !== fence) return false
        const response = ending.state === 'done' ? ending.response : ''
        if (item.state !== 'running') return item.state === ending.state && item.response === response
        const ended =
          ending.state === 'lost'
            ? { ...item, until: 0 } // The lease ends now.
            : {
                ...item,
                state: ending.state,
                until: ending.expiresAt,
                response,
                decision: ending.decision ?? item.decision,
              }
        if (await write(key, ended, item.version)) return true
      }
    },

    async extend(key, fence, leaseUntil, now) {
      const until = (item: Item): number => Math.max(item.until, leaseUntil)
      const extended = await change(key, fence, item =>
        now < item.until ? { ...item, until: until(item) } : undefined,
      )
      return extended !== undefined
    },

    async takeOver(key, fence, leaseUntil, now) {
      const taken = { fence: Math.max(fence + 1, now), until: leaseUntil }
      const item = await change(key, fence, held => (now < held.until ? undefined : { ...held, ...taken }))
      return item?.fence
    },

    async listLost({ limit, now, account, after }) {
      const items = (await orFault('table', () => table.running())) as readonly Item[] | undefined
      if (!Array.isArray(items)) throw malformedReply('table', 'items')
      const isAfter = ({ beganAt, key }: Item): boolean =>
        !after || beganAt > after.beganAt || (beganAt === after.beganAt && key > after.key)
      const isListed = (item: Item): boolean =>
        item.until <= now && (account === undefined || item.account === account) && isAfter(item)
      return items.filter(isListed).slice(0, limit).map(record)
    },

    async find(key) {
      const item = await read(key)
      return item && record(item)
    },

    async collect(limit, now) {
      let deleted = 0
      for (const key of await orFault('table', () => table.endedBefore(now - GRACE_MS, limit))) {
        const item = await read(key)
        // The key may have been started again since the query.
        if (!item || item.state === 'running' || item.until > now - GRACE_MS) continue
        if (await orFault('table', () => table.deleteIfVersion(key, item.version))) deleted++
      }
      return deleted
    },
  }
}

/** The in-process table. Each call takes a turn of the event loop, so that calls interleave as on a network. */
function inProcessTable(items: Map<string, Item>): Table {
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  return {
    get: async key => turn().then(() => items.get(key)),
    async putIfVersion(key, item, version) {
      await turn()
      if ((items.get(key)?.version ?? 0) !== version) return false
      items.set(key, item)
      return true
    },
    async deleteIfVersion(key, version) {
      await turn()
      return items.get(key)?.version === version && items.delete(key)
    },
    async running() {
      await turn()
      const running = [...items.values()].filter(({ state }) => state === 'running')
      return running.sort((one, other) => one.beganAt - other.beganAt || (one.key < other.key ? -1 : 1))
    },
    async endedBefore(cutoff, limit) {
      await turn()
      const ended = [...items].filter(([, { state, until }]) => state !== 'running' && until <= cutoff)
      return ended.slice(0, limit).map(([key]) => key)
    },
  }
}

/** The table over a connection that dies before or after each call, or garbles each reply. */
function faulty(table: Table, harm: 'cutBefore' | 'cutAfter' | 'malformed'): Table {
  const around = async (call: () => Promise<unknown>, isWrite: boolean): Promise<unknown> => {
    if (harm === 'cutBefore') throw new Error('connection reset')
    const reply = await call()
    if (harm === 'malformed') return 'garbled'
    if (isWrite) throw new Error('connection reset')
    return reply
  }
  return {
    ...table,
    get: key => around(() => table.get(key), false),
    running: () => around(() => table.running(), false),
    putIfVersion: (key, item, version) => around(() => table.putIfVersion(key, item, version), true),
  }
}

const close = async (): Promise<void> => {}
const failures = await failingTests(runner => {
  idempotencyStorageContract(runner, 'a table', async () => {
    const items = new Map<string, Item>()
    // Four adapters over one table, as on four hosts.
    return { connections: [1, 2, 3, 4].map(() => tableStorage(inProcessTable(items))), close }
  })
  idempotencyStorageFaults(runner, 'a table', async () => {
    const table = inProcessTable(new Map())
    return {
      healthy: tableStorage(table),
      cutBefore: tableStorage(faulty(table, 'cutBefore')),
      cutAfter: tableStorage(faulty(table, 'cutAfter')),
      malformed: tableStorage(faulty(table, 'malformed')),
      close,
    }
  })
})
deepEqual(failures, [])
