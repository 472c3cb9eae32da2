import { allow, type Verdict } from '@gatewright/kernel'
import type { UpdateAccount, Decision } from './update-account.ts'
import { canList, staleCredential, findActiveCaller, type Caller } from './authority.ts'
import type { IssuerDenial } from '../codes.ts'
import { toApiKey } from './key.ts'
import type { ApiKey } from '../storage/port.ts'

/** A key with the documents of its own policies, in order; those it inherits are left out. */
export interface KeyWithPolicies {
  readonly key: ApiKey
  readonly policies: readonly unknown[]
}

/** Lists the keys a caller may see, newest first, including those that ended recently. */
export async function listKeys(
  updateAccount: UpdateAccount,
  policies: (ids: readonly string[]) => Promise<readonly unknown[]>,
  caller: Exclude<Caller, 'operator'>,
): Promise<Verdict<readonly KeyWithPolicies[], IssuerDenial>> {
  const found = await updateAccount(caller.accountId, (keys, now): Decision<readonly ApiKey[]> => {
    const active = findActiveCaller(caller, keys, now)
    if (!active) return staleCredential
    const visible = keys.filter(key => canList(active, key)).map(toApiKey)
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
