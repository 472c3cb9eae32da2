import type { CheckedOptions } from '../options.ts'
import type { ApiKey, PolicyRecord } from '../storage/port.ts'
import { endOf, isLive } from './key.ts'

/** A key and its successors by rotation. */
export interface KeyLineage {
  /** The account of the keys; a partner's for a partner key. */
  readonly accountId: string
  readonly lineageId: string
}

/** Makes the functions of an issuer that read lineages. */
export function lineageVerbs(
  { keys, clock }: CheckedOptions,
  policies: (ids: readonly string[]) => Promise<readonly unknown[]>,
): {
  lineageOf(keyId: string): Promise<KeyLineage | undefined>
  lineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
  endedLineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
} {
  const keysOf = async ({ accountId, lineageId }: KeyLineage): Promise<readonly ApiKey[]> => {
    const { keys: all } = await keys.load(accountId)
    return all.filter(key => key.lineageId === lineageId).sort(lastToEnd)
  }
  const policiesOf = async (key: ApiKey | undefined): Promise<readonly PolicyRecord[] | undefined> => {
    if (!key) return undefined
    const documents = await policies(key.policyIds)
    return key.policyIds.map((id, index) => ({ id, document: documents[index] }))
  }
  return {
    async lineageOf(keyId) {
      const key = await keys.find(keyId)
      return key && { accountId: key.accountId, lineageId: key.lineageId }
    },
    async lineagePolicies(lineage) {
      const [newest] = await keysOf(lineage)
      return policiesOf(newest)
    },
    async endedLineagePolicies(lineage) {
      const all = await keysOf(lineage)
      const now = clock.now()
      return all.some(key => isLive(key, now)) ? undefined : policiesOf(all[0])
    },
  }
}

/**
 * Sorts the key first that ends last: a change is written to every live key of a lineage, so that key has the last policies. Not by
 * creation, since hosts whose clocks differ can make a key and its successor.
 */
function lastToEnd(a: ApiKey, b: ApiKey): number {
  return endOf(b) - endOf(a) || b.createdAt - a.createdAt
}
