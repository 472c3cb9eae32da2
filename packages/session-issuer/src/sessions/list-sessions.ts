import { allow, type Verdict } from '@gatewright/kernel'
import type { IssuerDenial } from '../codes.ts'
import { canList, findActiveCaller, isRoot, staleCredential, type IssuerCaller } from '../keys/authority.ts'
import { isLive } from '../key.ts'
import type { Decision, UpdateAccount } from '../keys/update-account.ts'
import { checkedListRequest, type ListRequest } from '../list-request.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyRecord, KeyStorage, ListPosition, SessionRecord } from '../storage/port.ts'

/** From how many sessions of the account a page is selected for a caller that is not a root: a store cannot select by caller. */
const SEARCHED = 500

/** A page of the live sessions that a caller may see. */
export interface SessionPage {
  /** Latest end first, those that end at one instant by descending id. */
  readonly sessions: readonly SessionRecord[]
  /** Where the next page begins: the `after` of its request. Null: this is the last page. */
  readonly next: ListPosition | null
}

/**
 * Lists the live sessions that a caller may see. A root sees every session of its account, also those that a partner created there
 * with a key of its own. A session ends with its key, and when its key is changed. Any page can be short or empty: a store selects
 * neither by caller nor by key.
 */
export async function listSessions(
  { keys: storedKeys, sessions, clock }: CheckedOptions,
  updateAccount: UpdateAccount,
  caller: Exclude<IssuerCaller, 'operator'>,
  request: ListRequest,
): Promise<Verdict<SessionPage, IssuerDenial>> {
  const { limit, after } = checkedListRequest(request)
  const visible = await visibleKeys(updateAccount, caller)
  if (!visible.ok) return visible
  const { all, keys } = visible.value
  const now = clock.now()
  const most = all ? limit : SEARCHED
  // One more than the limit, to know whether there is a next page.
  const found = await sessions.list(caller.accountId, most + 1, now, after)
  const searched = found.slice(0, most)
  const partnerKeys = all ? await findOthers(storedKeys, keys, searched) : []
  const live = [...keys, ...partnerKeys].filter(key => isLive(key, now))
  const versions = new Map(live.map(({ id, version }) => [id, version]))
  const own = searched.filter(({ keyId, keyVersion }) => versions.get(keyId) === keyVersion)
  const page = own.slice(0, limit)
  const last = own.length > limit ? page.at(-1) : found.length > most ? searched.at(-1) : undefined
  return allow({ sessions: page, next: last ? { at: last.expiresAt, id: last.sessionId } : null })
}

/** Finds the stored keys of sessions that are not among the known keys. */
async function findOthers(
  storedKeys: KeyStorage,
  known: readonly KeyRecord[],
  found: readonly SessionRecord[],
): Promise<readonly KeyRecord[]> {
  const knownIds = new Set(known.map(({ id }) => id))
  const others = new Set(found.map(({ keyId }) => keyId).filter(id => !knownIds.has(id)))
  const read = await Promise.all([...others].map(id => storedKeys.find(id)))
  return read.filter(key => key !== undefined)
}

/** The keys of an account whose sessions a caller may see. */
interface VisibleKeys {
  /** Whether these are all keys of the account. The sessions of other accounts' keys, such as a partner's, are visible then too. */
  readonly all: boolean
  readonly keys: readonly KeyRecord[]
}

/** Finds the keys whose sessions a caller may see, also those that have ended. */
export function visibleKeys(
  updateAccount: UpdateAccount,
  caller: Exclude<IssuerCaller, 'operator'>,
): Promise<Verdict<VisibleKeys, IssuerDenial>> {
  return updateAccount(caller.accountId, (keys, now): Decision<VisibleKeys> => {
    const active = findActiveCaller(caller, keys, now)
    if (!active) return staleCredential
    const value = { all: isRoot(active.key), keys: keys.filter(key => canList(active, key)) }
    return { ok: true, value }
  })
}
