import type { Denial, Session, Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { JWK } from 'jose'
import { createAccountUpdater } from './keys/update-account.ts'
import { createAuthenticator, type KeyReading } from './keys/authenticate.ts'
import type { IssuerCaller, WalletCaller } from './keys/authority.ts'
import { createChainCheck } from './keys/chain-bounds.ts'
import { CLOCK_SKEW_MS, JWKS_MAX_AGE_SECONDS, MAX_SESSION_SECONDS, SIGNING_KEY_REFRESH_MS } from './limits.ts'
import { makeChangeKeys, type KeyChange } from './keys/change-key.ts'
import type { IssuerDenial } from './codes.ts'
import { makeCreateKey, type CreatedKey, type KeyRequest } from './keys/create-key.ts'
import { makeMaintain, type MaintenanceResult } from './maintain.ts'
import { makeRevokeAccount } from './sessions/revoke-account.ts'
import { jwksDocument, type PublishedJwks } from './signing/jwks.ts'
import { createKeyTexts } from './keys/key-text.ts'
import { makeIssueSession, type IssuedSession, type SessionRequest } from './sessions/issue-session.ts'
import { makeOpenConsole, type ConsoleRequest } from './sessions/open-console.ts'
import { makeListKeys, type KeyPage } from './keys/list-keys.ts'
import type { ListRequest } from './list-request.ts'
import type { SessionPage } from './sessions/list-sessions.ts'
import {
  makeSessionMethods,
  type RevocationCounts,
  type SessionWithKeysEnded,
} from './sessions/manage-sessions.ts'
import { checkedOptions, type IssuerOptions } from './options.ts'
import { createKeyDigester } from './keys/peppers.ts'
import { lineageMethods, type KeyLineage } from './keys/lineage.ts'
import { policyReader } from './keys/policies.ts'
import { makePauseKeys } from './keys/pause-key.ts'
import { makeRotateKey, type RotationOptions } from './keys/rotate-key.ts'
import { createKeyRing, type SigningKeyInfo } from './signing/key-ring.ts'
import { rotationTiming } from './signing/schedule.ts'
import type { AuditEntry, AuditPosition } from './storage/audit-port.ts'
import type { ApiKey, PolicyRecord } from './storage/port.ts'

/**
 * API keys, sessions and signing keys of one issuer. A caller is a key, a session or the operator. What a caller may do to a
 * key depends on the place of that key in the chain, relative to the caller. Every method can throw a `Fault` when a store
 * fails.
 */
export interface Issuer {
  /** Creates a key. Its text is returned once and stored only as a keyed digest. */
  createKey(request: KeyRequest): Promise<Verdict<CreatedKey, IssuerDenial>>
  /**
   * Decides whether a text is a live key of this surface. A malformed text costs no storage call, any other one read, unless
   * `reading` allows a cached key. Throws a `TypeError` for a wrong `cacheMs`.
   */
  authenticateKey<D extends Denial = never>(
    text: unknown,
    surface: Surface,
    reading?: KeyReading<D>,
  ): Promise<Verdict<ApiKey, IssuerDenial | D>>
  /**
   * Lists a page of the keys that a caller may see, with their own policies: a root key sees all keys of its account, any other
   * caller its own key and those below it. Keys that ended recently are included. A page has at most `limit` keys, and fewer if
   * their policies would exceed 32 KiB of JSON. A key that exists while all pages are read is listed exactly once. Throws a
   * `TypeError` for a wrong `limit`.
   */
  listKeys(caller: ApiKey | Session, request?: ListRequest): Promise<Verdict<KeyPage, IssuerDenial>>
  /** Lists all keys that a caller may see, in any order and without policies. */
  visibleKeys(caller: ApiKey | Session): Promise<Verdict<readonly ApiKey[], IssuerDenial>>
  /**
   * Changes scopes, policy or label. Unless only the label changes, the sessions of the key always end. Those of a key below it end only if the rights of that key
   * change.
   */
  changeKey(caller: IssuerCaller, keyId: string, change: KeyChange): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Replaces a key by a successor; see `RotationOptions`. */
  rotateKey(
    caller: IssuerCaller | WalletCaller,
    keyId: string,
    rotation?: RotationOptions,
  ): Promise<Verdict<CreatedKey, IssuerDenial>>
  /**
   * Opens a console for an account whose wallet has just signed: a session of the user surface with a separate key. Nobody gets
   * the text of that key, it does not count towards `maxLiveKeys`, and it ends with the session. Like a root key, a console
   * lists, narrows and ends all keys and sessions of the account, but it creates none. If there are more than five,
   * the oldest ends.
   */
  openConsole(request: ConsoleRequest): Promise<Verdict<IssuedSession, IssuerDenial>>
  /**
   * Ends a key and its sessions and, with the last key of its lineage, all keys below it. Repeating it gives the same
   * result.
   */
  revokeKey(caller: IssuerCaller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
  /**
   * Pauses a key: until it is resumed, it and the keys below it work nowhere, and neither do their sessions, which end. Keys and policies
   * stay as they are. For callers that may revoke the key, except of a console's key. Repeating it gives the same result.
   */
  pauseKey(caller: IssuerCaller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
  /**
   * Ends the pause of a key; clients mint new sessions. For a key above it, a console and the operator. Denial: `policy_blocked` with the rule
   * `key_paused` if a key above it is paused, or if an operator paused it and the caller is not the operator.
   */
  resumeKey(caller: IssuerCaller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Ends every key and session of an account. */
  revokeAccount(accountId: string): Promise<RevocationCounts>
  /** Exchanges a key or a session for a new session with at most its rights. */
  issueSession(by: ApiKey | Session, request?: SessionRequest): Promise<Verdict<IssuedSession, IssuerDenial>>
  /**
   * Lists a page of the live sessions of the keys a caller may see, latest end first; for a root also those of its account that a
   * partner created with a key of its own. A page has at most `limit` sessions. For
   * a caller that is not a root it is selected from the next 500 sessions of the account, so that any page can be short or
   * empty. A session that is live while all pages are read is listed exactly once. Throws a `TypeError` for a wrong `limit`.
   */
  listSessions(caller: ApiKey | Session, request?: ListRequest): Promise<Verdict<SessionPage, IssuerDenial>>
  /**
   * Ends a session (`current`: the calling one) and all sessions that were minted from it. If it is the session of a console,
   * the console's key ends, too. Returns how many sessions ended.
   */
  endSession(caller: IssuerCaller, sessionId: string): Promise<Verdict<number, IssuerDenial>>
  /**
   * Ends a session like `endSession`, and revokes the keys that it or a session minted from it created, with all keys below
   * them. It also works after the session was deleted; the operator then gives the account. A key that is created at the same
   * moment is ended, too. Denial: `not_found` if the session's key is neither the caller's own nor below it; for a root, if the
   * key is of another account. Repeating it ends what is left.
   */
  endSessionWithKeys(
    caller: IssuerCaller,
    sessionId: string,
    accountId?: string,
  ): Promise<Verdict<SessionWithKeysEnded, IssuerDenial>>
  /**
   * Lists the changes of an account's keys, policies and sessions, newest first: at most `limit` rows, starting before an
   * instant, or after a row such as the last of the page before.
   */
  listAudit(accountId: string, limit: number, before?: AuditPosition): Promise<readonly AuditEntry[]>
  /** Reads from the store whether a verified session is still live: the strict check of a guard. */
  isCurrent(session: Session): Promise<boolean>
  /**
   * Reads policy documents in the order of their ids. Fault `ERR_STORE_REPLY` when one is missing, because the chain
   * would be incomplete. The documents are cached and shared: do not change them.
   */
  policies(ids: readonly string[]): Promise<readonly unknown[]>
  /**
   * Returns the lineage of a key, which it shares with its predecessors and successors by rotation. Undefined: no key with this
   * id is stored.
   */
  lineageOf(keyId: string): Promise<KeyLineage | undefined>
  /**
   * Reads the policies that bind the newest key of a lineage now, inherited ones included, even if that key has ended. Use it
   * for objects that a key made and that outlive the request, such as a card. While the key is paused, one more policy allows nothing. Undefined:
   * no key of the lineage is stored.
   */
  lineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
  /**
   * Reads the last policies of a lineage whose keys have all ended; they do not change after that. If an object must stay bound
   * after `maintain` deletes the keys, copy these policies before. Undefined: a key of the lineage is live, or none is stored.
   */
  endedLineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
  /** The public keys and the headers to publish them with. Never older than the refresh interval. */
  jwks(): Promise<PublishedJwks>
  /** The public key of a `kid` for guards in this process, or undefined. Never older than the refresh interval. */
  verificationKey(kid: string): Promise<JWK | undefined>
  /** Lists the signing keys with their states. */
  listSigningKeys(): Promise<readonly SigningKeyInfo[]>
  /** Announces a successor of the signing key, unless one is already announced. Returns whether it did. */
  rotateSigningKey(): Promise<boolean>
  /** Drops a leaked signing key immediately: its tokens fail as soon as verifiers fetch the JWKS document again. */
  dropSigningKey(kid: string): Promise<boolean>
  /**
   * Deletes ended rows, up to 100 batches of 1000 of each kind, and rotates the signing key when it is due. Call it every few
   * minutes. Deletes no further batch once `signal` aborts.
   */
  maintain(signal?: AbortSignal): Promise<MaintenanceResult>
  /** Writes the recorded uses of keys. Call it before the process ends. */
  flush(): Promise<void>
}

/** Creates an issuer. Throws a `TypeError` for wrong options. */
export function createIssuer(given: IssuerOptions): Issuer {
  const options = checkedOptions(given)
  const { clock } = options
  const texts = createKeyTexts(options.keyPrefix, options.environment)
  const peppers = createKeyDigester(options.peppers)
  const refreshMs = SIGNING_KEY_REFRESH_MS
  const timing = rotationTiming({
    refreshMs,
    maxAgeSeconds: JWKS_MAX_AGE_SECONDS,
    skewMs: CLOCK_SKEW_MS,
    maxTtlSeconds: MAX_SESSION_SECONDS,
  })
  const { algorithm, signingKeys: storage } = options
  const ring = createKeyRing({ storage, algorithm, clock, refreshMs, timing })
  const { authenticateKey, forget, flush } = createAuthenticator(options, texts, peppers)
  const policies = policyReader(options)
  const updateAccount = createAccountUpdater(options, policies, forget)
  const checkChains = createChainCheck(options, policies)
  const issueSession = makeIssueSession(options, ring, checkChains)
  const { endAccountSessions, ...sessionMethods } = makeSessionMethods(options, updateAccount)

  return {
    authenticateKey,
    flush,
    policies,
    ...lineageMethods(options, policies),
    createKey: makeCreateKey(options, { texts, peppers, checkChains }, updateAccount),
    ...makeListKeys(updateAccount, policies),
    ...makeChangeKeys(options, checkChains, updateAccount),
    ...makePauseKeys(options, updateAccount),
    rotateKey: makeRotateKey(options, texts, peppers, updateAccount),
    revokeAccount: makeRevokeAccount(updateAccount, { endAccountSessions }),
    issueSession,
    openConsole: makeOpenConsole(options, { texts, peppers, checkChains }, updateAccount, issueSession),
    ...sessionMethods,
    listAudit: (accountId, limit, before = { at: Number.MAX_SAFE_INTEGER }) =>
      options.audit.list(accountId, limit, before),
    jwks: () => jwksDocument(ring, JWKS_MAX_AGE_SECONDS),
    verificationKey: ring.publicKey,
    listSigningKeys: ring.list,
    rotateSigningKey: () => ring.rotate(0),
    dropSigningKey: ring.drop,
    maintain: makeMaintain(options, ring),
  }
}
