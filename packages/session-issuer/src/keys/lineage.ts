import type { Clock, EpochMs } from '@gatewright/kernel'
import type { ApiKey, IssuerStorage, PolicyRecord } from '../storage/port.ts'
import { endOf, isLive } from '../key.ts'

/** A key and its successors by rotation. */
export interface KeyLineage {
  /** The account of the keys; a partner's for a partner key. */
  readonly accountId: string
  readonly lineageId: string
}

/** A lineage of which no key is live, with the policies that its last key had. */
export interface EndedLineage extends KeyLineage {
  readonly policies: readonly PolicyRecord[]
}

/**
 * Reads the last policies of the lineages of some keys; lineages that have a live key are left out. `all` are the keys of the
 * account.
 */
export async function endedLineages(
  all: readonly ApiKey[],
  some: readonly ApiKey[],
  policies: ReadPolicies,
  now: EpochMs,
): Promise<readonly EndedLineage[]> {
  const ended: EndedLineage[] = []
  for (const lineageId of new Set(some.map(key => key.lineageId))) {
    const keys = keysOf(all, lineageId)
    const [last] = keys
    if (!last || keys.some(key => isLive(key, now))) continue
    ended.push({ accountId: last.accountId, lineageId, policies: await policiesOf(last, policies) })
  }
  return ended
}

/** Reads policy documents by their ids, in the order of the ids. */
export type ReadPolicies = (ids: readonly string[]) => Promise<readonly unknown[]>

/** Returns the keys of a lineage, the one that ends last first. */
function keysOf<K extends ApiKey>(all: readonly K[], lineageId: string): readonly K[] {
  return all.filter(key => key.lineageId === lineageId).sort(lastToEnd)
}

async function policiesOf(key: ApiKey, policies: ReadPolicies): Promise<readonly PolicyRecord[]> {
  const documents = await policies(key.policyIds)
  return key.policyIds.map((id, index) => ({ id, document: documents[index] }))
}

/** Binds what a paused key has made, such as a card, while it is paused. */
const PAUSED: PolicyRecord = { id: 'pol_paused', document: { allowOperations: [] } }

/** Makes the functions of an issuer that read lineages. */
export function lineageMethods(
  { keys, clock }: Pick<IssuerStorage, 'keys'> & { readonly clock: Clock },
  policies: ReadPolicies,
): {
  lineageOf(keyId: string): Promise<KeyLineage | undefined>
  lineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
  endedLineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
} {
  const load = async ({ accountId, lineageId }: KeyLineage): Promise<readonly ApiKey[]> =>
    keysOf((await keys.load(accountId)).keys, lineageId)
  return {
    async lineageOf(keyId) {
      const key = await keys.find(keyId)
      return key && { accountId: key.accountId, lineageId: key.lineageId }
    },
    async lineagePolicies(lineage) {
      const [newest] = await load(lineage)
      if (!newest) return undefined
      const binding = await policiesOf(newest, policies)
      return newest.revokedAt === null && newest.pauses.length > 0 ? [...binding, PAUSED] : binding
    },
    async endedLineagePolicies(lineage) {
      const all = await load(lineage)
      const [ended] = await endedLineages(all, all, policies, clock.now())
      return ended?.policies
    },
  }
}

/**
 * Sorts the key first that ends last: a change is written to every live key of a lineage, so that key has the latest policies.
 * Creation times are not compared, since a key and its successor may have been made by hosts whose clocks differ.
 */
function lastToEnd(a: ApiKey, b: ApiKey): number {
  return endOf(b) - endOf(a) || b.createdAt - a.createdAt
}
