import { malformedReply } from '@gatewright/kernel'
import type { CheckedOptions } from '../options.ts'

/**
 * Reads policy documents by id, from the keys' storage and, for those it does not hold, the sessions'. A missing
 * one is a fault: a chain with a hole could allow what the lost policy forbids.
 */
export function policyReader({
  keys,
  sessions,
}: CheckedOptions): (ids: readonly string[]) => Promise<readonly unknown[]> {
  return async ids => {
    if (ids.length === 0) return []
    const documents = new Map<string, unknown>()
    for (const storage of [keys, sessions]) {
      const missing = ids.filter(id => !documents.has(id))
      if (missing.length === 0) break
      for (const { id, document } of await storage.policies(missing)) documents.set(id, document)
    }
    return ids.map(id => {
      if (!documents.has(id)) throw malformedReply('store', 'every policy of a chain')
      return documents.get(id)
    })
  }
}
