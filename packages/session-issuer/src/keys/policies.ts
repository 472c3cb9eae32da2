import { malformedReply } from '@gatewright/kernel'
import { LRUCache } from 'lru-cache'
import type { CheckedOptions } from '../options.ts'
import type { PolicyRecord } from '../storage/port.ts'
import { jsonBytes } from './chain-bounds.ts'

/** Maximum memory of the cache of documents, in bytes. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024
/** Estimated memory of a parsed document per byte of its JSON, for the worst case: lists of short names. */
const MEMORY_PER_BYTE = 4

/**
 * Makes the reader of policy documents by id, from the keys' storage and then, for those not found there, from the sessions'. A
 * missing document is a fault: without it the chain could allow what that policy forbids. A document never changes, so recently
 * read ones are cached. Callers must not change a document.
 */
export function policyReader({
  keys,
  sessions,
}: CheckedOptions): (ids: readonly string[]) => Promise<readonly unknown[]> {
  const cache = new LRUCache<string, PolicyRecord>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: ({ document }) => MEMORY_PER_BYTE * jsonBytes(document),
  })
  return async ids => {
    const found = new Map<string, PolicyRecord>()
    for (const id of ids) {
      const cached = cache.get(id)
      if (cached) found.set(id, cached)
    }
    for (const storage of [keys, sessions]) {
      const missing = ids.filter(id => !found.has(id))
      if (missing.length === 0) break
      for (const policy of await storage.policies(missing)) {
        found.set(policy.id, policy)
        cache.set(policy.id, policy)
      }
    }
    return ids.map(id => {
      const policy = found.get(id)
      if (!policy) throw malformedReply('store', 'every policy of a chain')
      return policy.document
    })
  }
}
