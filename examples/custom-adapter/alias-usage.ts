// The complete adapter of docs/adapters/alias-usage.md, over an object store with conditional writes. Runs the suites of its port.
import { deepEqual } from 'node:assert/strict'
import { malformedReply, orFault } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { AliasUsage, AliasUsageKey, AliasUsageStorage } from '@gatewright/legacy-alias-router'
import { aliasUsageStorageContract, aliasUsageStorageFaults } from '@gatewright/legacy-alias-router/testing'

/** Rows by pair of alias and caller, and the last batch number of each writer. */
interface Usage {
  readonly rows: Record<string, AliasUsage>
  readonly writers: Record<string, { readonly sequence: number; readonly seenAt: number }>
}

/** One document of an object store. The version of a document that does not exist is 0. */
interface DocumentStore {
  read(): Promise<{ readonly text: string; readonly version: number }>
  /** False if the document has another version. */
  writeIfVersion(text: string, version: number): Promise<boolean>
}

// A line break sorts before every printable character, so these keys sort like pairs.
const keyOf = ({ alias, caller }: AliasUsageKey): string => `${alias}\n${caller}`

function merge(known: AliasUsage | undefined, row: AliasUsage): AliasUsage {
  if (!known) return row
  return {
    ...row,
    count: known.count + row.count,
    firstSeen: Math.min(known.firstSeen, row.firstSeen),
    lastSeen: Math.max(known.lastSeen, row.lastSeen),
  }
}

export function documentStorage(store: DocumentStore): AliasUsageStorage {
  const read = async (): Promise<{ usage: Usage; version: number }> => {
    const { text, version } = await orFault('document', () => store.read())
    try {
      const usage = JSON.parse(text === '' ? '{"rows":{},"writers":{}}' : text) as Usage
      if (typeof usage.rows === 'object' && typeof usage.writers === 'object') return { usage, version }
    } catch {
      // Not JSON.
    }
    throw malformedReply('document', 'usage as JSON')
  }
  /** Changes the document atomically. `change` returns undefined to leave it as it is. */
  const update = async (change: (usage: Usage) => Usage | undefined): Promise<boolean> => {
    for (;;) {
      const { usage, version } = await read()
      const next = change(usage)
      if (!next) return false
      if (await orFault('document', () => store.writeIfVersion(JSON.stringify(next), version))) return true
    }
  }

  return {
    add: ({ writer, sequence, rows }, now) =>
      update(usage => {
        if (sequence <= (usage.writers[writer]?.sequence ?? 0)) return undefined
        const merged = { ...usage.rows }
        for (const row of rows) merged[keyOf(row)] = merge(merged[keyOf(row)], row)
        return { rows: merged, writers: { ...usage.writers, [writer]: { sequence, seenAt: now } } }
      }),

    async page(after, limit) {
      const { rows } = (await read()).usage
      const start = after ? keyOf(after) : ''
      const keys = Object.keys(rows).filter(key => key > start)
      return keys
        .sort()
        .slice(0, limit)
        .map(key => rows[key] as AliasUsage)
    },

    async collect(limit, before) {
      let deleted = 0
      await update(({ rows, writers }) => {
        const old = Object.entries(rows).filter(([, { lastSeen }]) => lastSeen < before)
        const oldKeys = new Set(old.slice(0, limit).map(([key]) => key))
        deleted = oldKeys.size
        return {
          rows: Object.fromEntries(Object.entries(rows).filter(([key]) => !oldKeys.has(key))),
          writers: Object.fromEntries(Object.entries(writers).filter(([, { seenAt }]) => seenAt >= before)),
        }
      })
      return deleted
    },
  }
}

/** The in-process store. Each call takes a turn of the event loop, so that calls interleave as on a network. */
function inProcessStore(): DocumentStore {
  let document = { text: '', version: 0 }
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  return {
    read: async () => turn().then(() => document),
    async writeIfVersion(text, version) {
      await turn()
      if (document.version !== version) return false
      document = { text, version: version + 1 }
      return true
    },
  }
}

const dies = async (): Promise<never> => Promise.reject(new Error('connection reset'))
const close = async (): Promise<void> => {}
const failures = await failingTests(runner => {
  aliasUsageStorageContract(runner, 'a document', async () => {
    const store = inProcessStore()
    // Two adapters over one store, as on two hosts.
    return { connections: [documentStorage(store), documentStorage(store)], close }
  })
  aliasUsageStorageFaults(runner, 'a document', async () => {
    const store = inProcessStore()
    return {
      healthy: documentStorage(store),
      cutBefore: documentStorage({ read: dies, writeIfVersion: dies }),
      cutAfter: documentStorage({
        ...store,
        writeIfVersion: (text, version) => store.writeIfVersion(text, version).then(dies),
      }),
      malformed: documentStorage({ ...store, read: async () => ({ text: 'garbled', version: 0 }) }),
      close,
    }
  })
})
deepEqual(failures, [])
