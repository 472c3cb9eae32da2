import type { Denial, Session, Surface, Verdict } from '@gatewright/kernel'
import type { JWK } from 'jose'
import { createAccountUpdater } from './keys/update-account.ts'
import { createAuthenticator, type KeyReadLimiter } from './keys/authenticate.ts'
import type { Caller, WalletCaller } from './keys/authority.ts'
import { createChainCheck } from './keys/chain-bounds.ts'
import { LONGEST_SESSION_SECONDS } from './number-options.ts'
import { makeChangeKeys, type KeyChange } from './keys/change-key.ts'
import type { IssuerDenial } from './codes.ts'
import { makeCreateKey, type CreatedKey, type KeyRequest } from './keys/create-key.ts'
import { makeMaintain, type MaintenanceResult } from './maintain.ts'
import { makeRevokeAccount } from './keys/revoke-account.ts'
import { jwksDocument, type PublishedJwks } from './signing/jwks.ts'
import { createKeyTexts } from './keys/key-text.ts'
import { makeIssueSession, type IssuedSession, type SessionRequest } from './sessions/issue-session.ts'
import { makeOpenConsole, type ConsoleRequest } from './keys/open-console.ts'
import { makeListKeys, type KeyPage } from './keys/list-keys.ts'
import type { ListRequest } from './list-request.ts'
import type { SessionPage } from './sessions/list-sessions.ts'
import { makeSessionVerbs, type RevocationCounts } from './sessions/manage-sessions.ts'
import { checkedOptions, type IssuerOptions } from './options.ts'
import { createKeyDigester } from './keys/peppers.ts'
import { lineageVerbs, type KeyLineage } from './keys/lineage.ts'
import { policyReader } from './keys/policies.ts'
import { makeRotateKey, type RotationOptions } from './keys/rotate-key.ts'
import { createKeyRing, type SigningKeyInfo } from './signing/key-ring.ts'
import { rotationTiming } from './signing/schedule.ts'
import type { AuditEntry, AuditPosition } from './storage/audit-port.ts'
import type { ApiKey, PolicyRecord } from './storage/port.ts'

/**
 * API keys, sessions and signing keys of one issuer. A caller is a key, a session or the operator; what it may do to a
 * key depends on where the key is in the chain. Every verb can throw a `Fault` when a store fails.
 */
export interface Issuer {
  /** Creates a key. Its text is returned once and stored only as a keyed digest. */
  createKey(request: KeyRequest): Promise<Verdict<CreatedKey, IssuerDenial>>
  /**
   * Decides whether a text is a live key of this surface. A malformed text costs no storage call. A key that is not
   * cached costs one read, which `limitRead` may delay or deny; without it the read runs at once.
   */
  authenticateKey<D extends Denial = never>(
    text: unknown,
    surface: Surface,
    limitRead?: KeyReadLimiter<D>,
  ): Promise<Verdict<ApiKey, IssuerDenial | D>>
  /**
   * Lists a page of the keys a caller may see, with their own policies: all keys of its account for a root, its own and those below
   * it for others, ended ones included for a while. A page has at most `limit` keys, and fewer where their policies would pass 32 KiB
   * of JSON. No key that exists while all pages are read is repeated or missed. Throws a `TypeError` for a wrong `limit`.
   */
  listKeys(caller: ApiKey | Session, request?: ListRequest): Promise<Verdict<KeyPage, IssuerDenial>>
  /** The same keys, all of them, in any order and without policies. */
  visibleKeys(caller: ApiKey | Session): Promise<Verdict<readonly ApiKey[], IssuerDenial>>
  /** Changes scopes or policy. The sessions of the key end in any case, those of a key below it where its rights change. */
  changeKey(caller: Caller, keyId: string, change: KeyChange): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Replaces a key by a successor; see `RotationOptions`. */
  rotateKey(
    caller: Caller | WalletCaller,
    keyId: string,
    rotation?: RotationOptions,
  ): Promise<Verdict<CreatedKey, IssuerDenial>>
  /**
   * Opens a console for an account whose wallet has just signed: a session of the user surface under a key of its own that
   * nobody can present, takes no slot, and ends with the session. It lists, narrows and ends all keys and sessions of the
   * account as a root does, and creates none. Beyond `maxConsoles` the oldest ends.
   */
  openConsole(request: ConsoleRequest): Promise<Verdict<IssuedSession, IssuerDenial>>
  /**
   * Ends a key and its sessions and, with the last key of its lineage, all keys below it. Repeating it gives the same
   * result.
   */
  revokeKey(caller: Caller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Ends every key and session of an account. */
  revokeAccount(accountId: string): Promise<RevocationCounts>
  /** Exchanges a key or a session for a new session with at most its rights. */
  issueSession(by: ApiKey | Session, request?: SessionRequest): Promise<Verdict<IssuedSession, IssuerDenial>>
  /**
   * Lists a page of the live sessions of the keys a caller may see, latest end first. A page has at most `limit` sessions. For a
   * caller that is no root it is made of the next 500 sessions of the account, so it can be short, or empty, before the last one. No
   * session that lives all the while is repeated or missed. Throws a `TypeError` for a wrong `limit`.
   */
  listSessions(caller: ApiKey | Session, request?: ListRequest): Promise<Verdict<SessionPage, IssuerDenial>>
  /** Ends a session (`current`: the calling one) and those minted from it; with a console's, the console. Returns how many sessions ended. */
  endSession(caller: Caller, sessionId: string): Promise<Verdict<number, IssuerDenial>>
  /**
   * Ends a session like `endSession`, and revokes the keys that it or a session minted from it created, with all keys
   * below them. It also works after the session is deleted; the operator then names the account. A key that is being
   * created at the same moment is ended too. Denial: `not_found` where the session's key is neither the caller's own
   * nor below it; a root reaches all keys of its account. Repeating it ends whatever is left.
   */
  endSessionWithKeys(
    caller: Caller,
    sessionId: string,
    accountId?: string,
  ): Promise<Verdict<RevocationCounts, IssuerDenial>>
  /**
   * Lists the changes of an account's keys, policies and sessions, newest first: at most `limit` from before an
   * instant, or from after a row, such as the last of the page before.
   */
  listAudit(accountId: string, limit: number, before?: AuditPosition): Promise<readonly AuditEntry[]>
  /** Reads from the store whether a verified session is still live: the strict check of a guard. */
  isCurrent(session: Session): Promise<boolean>
  /**
   * Reads policy documents in the order of their ids. Fault `ERR_STORE_REPLY` when one is missing, because the chain
   * would be incomplete. The documents are cached and shared: do not change them.
   */
  policies(ids: readonly string[]): Promise<readonly unknown[]>
  /** Finds the lineage of a key: the same for the key and its successors by rotation. Undefined: the key is deleted, or never existed. */
  lineageOf(keyId: string): Promise<KeyLineage | undefined>
  /**
   * Reads the policies that bind the newest key of a lineage now, inherited ones included, also when that key has ended. Use it for
   * objects that a key made and that last longer than the request, such as a card. Undefined: no key of the lineage is stored.
   */
  lineagePolicies(lineage: KeyLineage): Promise<readonly PolicyRecord[] | undefined>
  /**
   * Reads the last policies of a lineage whose keys have all ended; they do not change after that. If an object must stay bound after
   * `maintain` deletes the keys, copy them before. Undefined: a key of the lineage is live, or none is stored.
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
  /** Drops a leaked signing key at once: its tokens fail as soon as verifiers read the document again. */
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
  const { clock, jwksMaxAgeSeconds: maxAgeSeconds } = options
  const texts = createKeyTexts(options.keyPrefix, options.environment)
  const peppers = createKeyDigester(options.peppers)
  const { signingKeyRefreshMs: refreshMs, clockSkewMs: skewMs } = options
  const timing = rotationTiming({ refreshMs, maxAgeSeconds, skewMs, maxTtlSeconds: LONGEST_SESSION_SECONDS })
  const { algorithm, signingKeys: storage } = options
  const ring = createKeyRing({ storage, algorithm, clock, refreshMs, timing })
  const { authenticateKey, forget, flush } = createAuthenticator(options, texts, peppers)
  const policies = policyReader(options)
  const updateAccount = createAccountUpdater(options, policies, forget)
  const checkChains = createChainCheck(options, policies)
  const issueSession = makeIssueSession(options, ring, checkChains)
  const { endAccountSessions, ...sessionVerbs } = makeSessionVerbs(options, updateAccount)

  return {
    authenticateKey,
    flush,
    policies,
    ...lineageVerbs(options, policies),
    createKey: makeCreateKey(options, { texts, peppers, checkChains }, updateAccount),
    ...makeListKeys(updateAccount, policies),
    ...makeChangeKeys(options, checkChains, updateAccount),
    rotateKey: makeRotateKey(options, texts, peppers, updateAccount),
    revokeAccount: makeRevokeAccount(updateAccount, { endAccountSessions }),
    issueSession,
    openConsole: makeOpenConsole(options, { texts, peppers, checkChains }, updateAccount, issueSession),
    ...sessionVerbs,
    listAudit: (accountId, limit, before = { at: Number.MAX_SAFE_INTEGER }) =>
      options.audit.list(accountId, limit, before),
    jwks: () => jwksDocument(ring, maxAgeSeconds),
    verificationKey: ring.publicKey,
    listSigningKeys: ring.list,
    rotateSigningKey: () => ring.rotate(0),
    dropSigningKey: ring.drop,
    maintain: makeMaintain(options, ring),
  }
}
