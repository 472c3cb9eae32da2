import { allow, type Verdict } from '@gatewright/kernel'
import type { Accounts, Decision } from './account.ts'
import { sees, stale, standingOf, type Caller } from './authority.ts'
import type { IssuerDenial } from '../codes.ts'
import { toApiKey } from './key.ts'
import type { ApiKey } from '../storage/port.ts'

/** A key with the policies of its own, in order; those it inherits are left out. */
export interface ListedKey {
  readonly key: ApiKey
  readonly policies: readonly unknown[]
}

/** Lists the keys a caller may see, newest first, those that ended lately included. */
export async function listKeys(
  accounts: Accounts,
  policies: (ids: readonly string[]) => Promise<readonly unknown[]>,
  caller: Exclude<Caller, 'operator'>,
): Promise<Verdict<readonly ListedKey[], IssuerDenial>> {
  const found = await accounts(caller.accountId, (keys, now): Decision<readonly ApiKey[]> => {
    const standing = standingOf(caller, keys, now)
    if (!standing) return stale
    const visible = keys.filter(key => sees(standing, key)).map(toApiKey)
    return { ok: true, value: visible.sort((a, b) => b.createdAt - a.createdAt) }
  })
  if (!found.ok) return found
  const own = found.value.map(key => key.policyIds.slice(key.inheritedPolicies))
  const ids = [...new Set(own.flat())]
  const documents = await policies(ids)
  return allow(
    found.value.map((key, index) => ({
      key,
      policies: (own[index] as readonly string[]).map(id => documents[ids.indexOf(id)]),
    })),
  )
}
