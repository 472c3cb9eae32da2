import type { Verdict } from '@gatewright/kernel'
import { isStorableText, checkOptions, keyPolicyId, type OptionTable } from '@gatewright/kernel/internal'
import { actorOf, keyNotes } from '../audit.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { denyLargePolicy, type CheckChains } from '../keys/chain-bounds.ts'
import { MAX_CONSOLES } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import { randomBase62 } from '../random.ts'
import { denyTtl, type IssuedSession, type SessionRequest } from './issue-session.ts'
import type { ApiKey, KeyPolicyRecord, KeyRecord } from '../storage/port.ts'
import { buildKeyRecord, type KeyRequest } from '../keys/create-key.ts'
import { isLive, toApiKey } from '../key.ts'
import type { KeyTexts } from '../keys/key-text.ts'
import type { KeyDigester } from '../keys/peppers.ts'
import { endKeys, mergeWrites, type Decision, type UpdateAccount } from '../keys/update-account.ts'

/** The requested console: the wallet that signed, and the rights of the console. */
export interface ConsoleRequest
  extends Pick<KeyRequest, 'accountId' | 'userId' | 'walletAddress' | 'scopes'> {
  /** A policy document, checked by the host. It binds the console and every session minted from it. */
  readonly policy?: unknown
  /** Lifetime of the console in seconds, with the bounds of a session. */
  readonly ttlSeconds?: number
}

const REQUEST: OptionTable<ConsoleRequest> = {
  accountId: true,
  userId: true,
  walletAddress: true,
  scopes: true,
  policy: true,
  ttlSeconds: true,
}

/**
 * Makes the method that opens a console. The console's key is a root of the user surface whose text nobody gets, so that the
 * session is the only credential. A crash after the key and before the session leaves a key that nobody can use, until it
 * expires.
 */
export function makeOpenConsole(
  options: CheckedOptions,
  {
    texts,
    peppers,
    checkChains,
  }: { readonly texts: KeyTexts; readonly peppers: KeyDigester; readonly checkChains: CheckChains },
  updateAccount: UpdateAccount,
  issueSession: (by: ApiKey, request: SessionRequest) => Promise<Verdict<IssuedSession, IssuerDenial>>,
): (request: ConsoleRequest) => Promise<Verdict<IssuedSession, IssuerDenial>> {
  return async request => {
    const { ttlSeconds = options.defaultSessionTtlSeconds, ...about } = checkOptions(
      'openConsole',
      request,
      REQUEST,
    )
    const denial = denyUnstorableIds(about) ?? denyTtl(ttlSeconds, options) ?? denyLargePolicy(request.policy)
    if (denial) return denial
    const { id, text } = texts.generate('user', request.accountId)
    const secret = { id, prefix: texts.display('user', id), ...peppers.digest(text) }
    const policies: KeyPolicyRecord[] =
      request.policy === undefined
        ? []
        : [{ id: keyPolicyId(id, randomBase62(8)), lineageId: id, document: request.policy }]
    const tooLarge = await checkChains([policies.map(policy => policy.id)], policies)
    if (tooLarge) return tooLarge
    const opened = await updateAccount(request.accountId, (keys, now): Decision<ApiKey> => {
      const identity = { ...secret, policyIds: policies.map(policy => policy.id), createdBy: null }
      const wanted = { ...about, surface: 'user', expiresAt: now + ttlSeconds * 1000 } as const
      const record = { ...buildKeyRecord(wanted, undefined, identity, now), console: true }
      const ending = endKeys(keys, oldestConsoles(keys, MAX_CONSOLES, now), now)
      const write = mergeWrites({ keys: [record], policies, feed: [] }, ending)
      const notes = [...keyNotes('key.create', [record]), ...keyNotes('key.retire', ending.keys)]
      return { ok: true, value: toApiKey(record), write: { ...write, by: actorOf('wallet'), notes } }
    })
    return opened.ok ? issueSession(opened.value, { ttlSeconds }) : opened
  }
}

function denyUnstorableIds(request: Pick<ConsoleRequest, 'accountId' | 'userId'>): IssuerDenial | undefined {
  const bad = (['accountId', 'userId'] as const).find(name => !isStorableText(request[name] ?? ''))
  return bad && deny('invalid_request', `${bad} must be well-formed Unicode without U+0000`, { field: bad })
}

/** Returns the live consoles to end so that one more fits: those that were opened first. */
function oldestConsoles(keys: readonly KeyRecord[], most: number, now: number): string[] {
  return keys
    .filter(key => key.console && isLive(key, now))
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(most - 1)
    .map(key => key.id)
}
