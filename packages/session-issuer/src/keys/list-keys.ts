import { allow, type Verdict } from '@gatewright/kernel'
import type { UpdateAccount, Decision } from './update-account.ts'
import { canList, staleCredential, findActiveCaller, type IssuerCaller } from './authority.ts'
import type { IssuerDenial } from '../codes.ts'
import { jsonBytes } from './chain-bounds.ts'
import { checkedListRequest, type ListRequest } from '../list-request.ts'
import { toApiKey } from '../key.ts'
import type { ReadPolicies } from './lineage.ts'
import { isAfter, newestFirst } from '../list-order.ts'
import type { ApiKey, ListPosition } from '../storage/port.ts'

/** A key with the documents of its own policies, in order; those it inherits are left out. */
interface KeyWithPolicies {
  readonly key: ApiKey
  readonly policies: readonly unknown[]
}

/** A page of the keys that a caller may see. */
export interface KeyPage {
  /** Newest first, those of one instant by descending id. Keys that ended recently are included. */
  readonly keys: readonly KeyWithPolicies[]
  /** Where the next page begins: the `after` of its request. Null: this is the last page. */
  readonly next: ListPosition | null
}

/**
 * Maximum bytes of the policies of one page, as JSON. The first key of a page is always on it, however large its policies are,
 * so that every key is on some page.
 */
const MAX_PAGE_POLICY_BYTES = 32_768
/**
 * How many policies the first read of a page requests; each further read requests twice as many. So a page of large policies
 * reads few that do not fit, and a page of 100 small ones takes 5 reads.
 */
const FIRST_READ = 4

/** Makes the methods of an issuer that list keys. */
export function makeListKeys(
  updateAccount: UpdateAccount,
  readPolicies: ReadPolicies,
): {
  visibleKeys(caller: Exclude<IssuerCaller, 'operator'>): Promise<Verdict<readonly ApiKey[], IssuerDenial>>
  listKeys(
    caller: Exclude<IssuerCaller, 'operator'>,
    request?: ListRequest,
  ): Promise<Verdict<KeyPage, IssuerDenial>>
} {
  const visibleKeys = (
    caller: Exclude<IssuerCaller, 'operator'>,
  ): Promise<Verdict<readonly ApiKey[], IssuerDenial>> =>
    updateAccount(caller.accountId, (keys, now): Decision<readonly ApiKey[]> => {
      const active = findActiveCaller(caller, keys, now)
      if (!active) return staleCredential
      return { ok: true, value: keys.filter(key => canList(active, key)).map(toApiKey) }
    })
  return {
    visibleKeys,
    async listKeys(caller, request = {}) {
      const { limit, after } = checkedListRequest(request)
      const visible = await visibleKeys(caller)
      if (!visible.ok) return visible
      const sorted = visible.value
        .map(key => ({ key, at: key.createdAt, id: key.id }))
        .filter(row => isAfter(row, after))
        .sort(newestFirst)
      const wanted = sorted.slice(0, limit).map(({ key }) => key)
      const keys = await withPolicies(wanted, readPolicies)
      const last = keys.at(-1)?.key
      const isLast = keys.length === sorted.length
      return allow({ keys, next: last && !isLast ? { at: last.createdAt, id: last.id } : null })
    },
  }
}

/** Returns as many keys, from the first on, as fit into `MAX_PAGE_POLICY_BYTES`, each with its own policies. */
async function withPolicies(
  keys: readonly ApiKey[],
  readPolicies: ReadPolicies,
): Promise<readonly KeyWithPolicies[]> {
  const read = new Map<string, { readonly document: unknown; readonly bytes: number }>()
  const page: KeyWithPolicies[] = []
  let total = 0
  let atOnce = FIRST_READ
  for (const [index, key] of keys.entries()) {
    const ids = ownPolicyIds(key)
    if (ids.some(id => !read.has(id))) {
      const next = nextPolicyIds(keys.slice(index), atOnce, id => !read.has(id))
      atOnce *= 2
      for (const [place, document] of (await readPolicies(next)).entries())
        read.set(next[place] as string, { document, bytes: jsonBytes(document) })
    }
    const policies = ids.flatMap(id => read.get(id) ?? [])
    total += policies.reduce((sum, { bytes }) => sum + bytes, 0)
    if (page.length > 0 && total > MAX_PAGE_POLICY_BYTES) break
    page.push({ key, policies: policies.map(({ document }) => document) })
  }
  return page
}

const ownPolicyIds = (key: ApiKey): readonly string[] => key.policyIds.slice(key.inheritedPolicies)

/** Returns the policies to read next: all of the first key, then those of the following keys until there are `count`. */
function nextPolicyIds(
  keys: readonly ApiKey[],
  count: number,
  isWanted: (id: string) => boolean,
): readonly string[] {
  const ids = new Set<string>()
  for (const key of keys) {
    if (ids.size >= count) break
    for (const id of ownPolicyIds(key)) if (isWanted(id)) ids.add(id)
  }
  return [...ids]
}
