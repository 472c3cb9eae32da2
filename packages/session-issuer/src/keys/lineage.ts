import type { CheckedOptions } from '../options.ts'
import type { ApiKey, PolicyRecord } from '../storage/port.ts'

/** A key and its successors by rotation. */
export interface KeyLineage {
  /** The account of the keys; a partner's for a partner key. */
  readonly accountId: string
  readonly lineageId: string
}

/** Makes `Issuer.lineageOf` and `Issuer.lineagePolicies`. */
export function lineageVerbs(
  { keys }: CheckedOptions,
  policies: (ids: readonly string[]) => Promise<readonly unknown[]>,
): {
  lineageOf(keyId: string): Promise<KeyLineage | undefined>
  lineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
} {
  return {
    async lineageOf(keyId) {
      const key = await keys.find(keyId)
      return key && { accountId: key.accountId, lineageId: key.lineageId }
    },
    async lineagePolicies({ accountId, lineageId }) {
      const { keys: all } = await keys.load(accountId)
      const [newest] = all.filter(key => key.lineageId === lineageId).sort(newestFirst)
      if (!newest) return undefined
      const documents = await policies(newest.policyIds)
      return newest.policyIds.map((id, index) => ({ id, document: documents[index] }))
    },
  }
}

/** Sorts keys that were not revoked before the others: a successor that was never used is revoked when it is replaced. */
function newestFirst(a: ApiKey, b: ApiKey): number {
  const revoked = Number(a.revokedAt !== null) - Number(b.revokedAt !== null)
  return (
    revoked || b.createdAt - a.createdAt || Number(a.successorId !== null) - Number(b.successorId !== null)
  )
}
