// The complete adapter of docs/adapters/revocation-feed.md, over a table with a sort key. Runs the suites of its port.
import { deepEqual, rejects } from 'node:assert/strict'
import { FEED_LANES, FEED_START, malformedReply, orFault, type FeedEntry } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { RevocationFeed } from '@gatewright/scope-guard'
import { revocationFeedContract } from '@gatewright/scope-guard/testing'

/** The query that the adapter needs. */
interface FeedTable {
  queryAfter(lane: number, position: number, limit: number): Promise<readonly unknown[]>
}

function readEntry(item: unknown): FeedEntry {
  const entry = (item ?? {}) as Record<string, unknown>
  const { kind, id, version, at, from, lane, position } = entry
  const isIntegerOrAbsent = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value)
  const isEntry =
    (kind === 'key' || kind === 'session') &&
    typeof id === 'string' &&
    id !== '' &&
    Number.isSafeInteger(at) &&
    Number.isSafeInteger(position) &&
    Number.isInteger(lane) &&
    (lane as number) >= 0 &&
    (lane as number) < FEED_LANES &&
    isIntegerOrAbsent(version) &&
    isIntegerOrAbsent(from)
  if (!isEntry) throw malformedReply('feed table', 'a revocation')
  return entry as unknown as FeedEntry
}

export function tableRevocationFeed(table: FeedTable): RevocationFeed {
  return {
    async after(positions, limit) {
      const readLane = async (position: number, lane: number): Promise<readonly FeedEntry[]> => {
        const items = await orFault('feed table', () => table.queryAfter(lane, position, limit))
        return items.map(readEntry)
      }
      return (await Promise.all(positions.map(readLane))).flat()
    },
  }
}

const failures = await failingTests(runner => {
  revocationFeedContract(runner, 'a table', async () => {
    const rows: FeedEntry[] = []
    const queryAfter: FeedTable['queryAfter'] = async (lane, position, limit) =>
      rows // in ascending order, as they were appended
        .filter(row => row.lane === lane && row.position > position)
        .slice(0, limit)
    return {
      feed: tableRevocationFeed({ queryAfter }),
      append: async entries => void rows.push(...entries),
      close: async () => {},
    }
  })
})
deepEqual(failures, [])

// The contract cannot break the connection of your store: test these faults as well.
const cut = tableRevocationFeed({ queryAfter: async () => Promise.reject(new Error('connection reset')) })
await rejects(cut.after(FEED_START, 10), { code: 'ERR_STORE_UNAVAILABLE' })
// An entry without an id.
const malformed = tableRevocationFeed({
  queryAfter: async () => [{ kind: 'session', at: 1, lane: 0, position: 1 }],
})
await rejects(malformed.after(FEED_START, 10), { code: 'ERR_STORE_REPLY' })
