import type { EpochMs } from '@gatewright/kernel'
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
    return all.filter(key => key.lineageId === lineageId).sort(newestFirst(clock.now()))
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
 * Sorts the newest key first: a live one, then one that was not replaced, then one that ended later. Not by creation, since each
 * key has the time of the host that made it.
 */
function newestFirst(now: EpochMs): (a: ApiKey, b: ApiKey) => number {
  const rank = (key: ApiKey): number => 2 * Number(!isLive(key, now)) + Number(key.successorId !== null)
  return (a, b) => rank(a) - rank(b) || endOf(b) - endOf(a) || b.createdAt - a.createdAt
}
