import { malformedReply } from '@gatewright/kernel'
import type { CheckedOptions } from '../options.ts'

/**
 * Makes the reader of policy documents by id, from the keys' storage and then, for those not found there, from the
 * sessions'. A missing document is a fault: without it the chain could allow what that policy forbids.
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
