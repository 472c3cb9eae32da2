import type { Denial, EpochMs, Session, Surface, Verdict } from '@gatewright/kernel'
import type { JWK } from 'jose'
import { createAccounts, ended } from './keys/account.ts'
import { actorOf, noteOn, notesOn } from './audit.ts'
import { createAuthenticator, type AroundRead } from './keys/authenticate.ts'
import type { Caller } from './keys/authority.ts'
import { MAX_TTL_SECONDS } from './bounds.ts'
import { createKeyChanger, type KeyChange } from './keys/change-key.ts'
import type { IssuerDenial } from './codes.ts'
import { createKeyMaker, type CreatedKey, type KeyRequest } from './keys/create-key.ts'
import { createKeyTexts } from './keys/key-text.ts'
import { createSessionIssuer, type IssuedSession, type SessionRequest } from './sessions/issue-session.ts'
import { listKeys, type ListedKey } from './keys/list-keys.ts'
import { createSessionManager, type EndedWithKeys } from './sessions/manage-sessions.ts'
import { checkedOptions, type IssuerOptions } from './options.ts'
import { createPeppers } from './keys/peppers.ts'
import { policyReader } from './keys/policies.ts'
import { createKeyRotator, type Rotation } from './keys/rotate-key.ts'
import { createKeyRing, type ListedSigningKey } from './signing/key-ring.ts'
import { timingOf } from './signing/schedule.ts'
import type { AuditEntry, AuditStorage } from './storage/audit-port.ts'
import type { ApiKey, SessionRecord } from './storage/port.ts'

/** The JWKS document (RFC 7517) is `{ keys }`; serve it with `headers`. */
export interface PublishedKeys {
  readonly keys: JWK[]
  /** What a verifier may cache the document for. Rotation counts on nobody keeping it longer. */
  readonly maxAgeSeconds: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** What `maintain` has done. */
export interface Maintenance {
  readonly collectedKeys: number
  readonly collectedSessions: number
  readonly collectedAudit: number
  /** Whether a successor of the signing key was announced. */
  readonly rotatedSigningKey: boolean
}

/**
 * API keys, sessions and signing keys of one issuer. A caller is a key, a session or the operator, and can do to
 * keys what its place in their chain allows. Every verb can throw a `Fault` when a store is down.
 */
export interface Issuer {
  /** Makes a key; its text is shown once and stored only as a keyed digest. */
  createKey(request: KeyRequest): Promise<Verdict<CreatedKey, IssuerDenial>>
  /**
   * Is this text a live key of this surface? Junk is refused with no storage call. A key that is not known costs one
   * read, which `around` may put off or refuse; without it the read is made at once.
   */
  authenticateKey<D extends Denial = never>(
    text: unknown,
    surface: Surface,
    around?: AroundRead<D>,
  ): Promise<Verdict<ApiKey, IssuerDenial | D>>
  /** The keys a caller may see: all of its account for a root, its own and those below it for others. */
  listKeys(caller: ApiKey | Session): Promise<Verdict<readonly ListedKey[], IssuerDenial>>
  /** Changes scopes or policy. The sessions of every key that changes end. */
  changeKey(caller: Caller, keyId: string, change: KeyChange): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Replaces a key by a successor; see `Rotation`. */
  rotateKey(caller: Caller, keyId: string, rotation?: Rotation): Promise<Verdict<CreatedKey, IssuerDenial>>
  /** Ends a key, its sessions and, with the last key of its lineage, all below it. Again: the same answer. */
  revokeKey(caller: Caller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Ends every key and session of an account. */
  revokeAccount(accountId: string): Promise<{ readonly keys: number; readonly sessions: number }>
  /** Exchanges a key, or a session, for a new session that is at most as wide. */
  issueSession(by: ApiKey | Session, request?: SessionRequest): Promise<Verdict<IssuedSession, IssuerDenial>>
  /** Live sessions of the keys a caller may see, at most 1000, latest end first. */
  listSessions(caller: ApiKey | Session): Promise<Verdict<readonly SessionRecord[], IssuerDenial>>
  /** Ends a session (`current`: the calling one) and those minted from it; answers how many ended. */
  endSession(caller: Caller, sessionId: string): Promise<Verdict<number, IssuerDenial>>
  /**
   * Ends a session like `endSession`, and revokes the keys that it or a session minted from it made, each with all
   * below it. It also works after the session expired and is stored no longer; the operator names the account then.
   * A key that is being made at the same moment does not escape. Denial: `not_found`, where the session's key is
   * neither the caller's own nor below it; a root reaches all of its account. Again: whatever is left.
   */
  endSessionWithKeys(
    caller: Caller,
    sessionId: string,
    accountId?: string,
  ): Promise<Verdict<EndedWithKeys, IssuerDenial>>
  /** The changes of an account's keys, policies and sessions, newest first: at most `limit` from before an instant. */
  listAudit(accountId: string, limit: number, before?: EpochMs): Promise<readonly AuditEntry[]>
  /** Asks the store whether a verified session still stands: the strict check of a guard. */
  isCurrent(session: Session): Promise<boolean>
  /** Policy documents in the order of their ids. Fault `ERR_STORE_REPLY` when one is missing: it must not pass. */
  policies(ids: readonly string[]): Promise<readonly unknown[]>
  /** The public keys, and how to publish them. Never older than the refresh interval. */
  jwks(): Promise<PublishedKeys>
  /** The public key of a `kid` for guards in this process, or undefined. Never older than the refresh interval. */
  verificationKey(kid: string): Promise<JWK | undefined>
  /** The signing keys and where they stand. */
  listSigningKeys(): Promise<readonly ListedSigningKey[]>
  /** Announces a successor of the signing key, unless one is announced already. Answers whether it did. */
  rotateSigningKey(): Promise<boolean>
  /** Drops a leaked signing key at once: its tokens fail as soon as verifiers read the document again. */
  dropSigningKey(kid: string): Promise<boolean>
  /** Collects garbage in bounded batches and rotates the signing key when it is due. Call it every few minutes. */
  maintain(): Promise<Maintenance>
  /** Writes the uses of keys gathered so far. Call it before the process ends. */
  flush(): Promise<void>
}

/** Rows of each kind that one `maintain` deletes at most. */
const COLLECT_LIMIT = 1000

/** Every mint leaves an audit row, so that more than one batch may be due. */
const AUDIT_BATCHES = 20

async function collectAudit(audit: AuditStorage, now: EpochMs): Promise<number> {
  let total = 0
  for (let batch = 0; batch < AUDIT_BATCHES; batch++) {
    const gone = await audit.collect(COLLECT_LIMIT, now)
    total += gone
    if (gone < COLLECT_LIMIT) break
  }
  return total
}

/** Makes an issuer. Throws a `TypeError` for bad options. */
export function createIssuer(given: IssuerOptions): Issuer {
  const options = checkedOptions(given)
  const { clock, keys, sessions, jwksMaxAgeSeconds: maxAgeSeconds } = options
  const texts = createKeyTexts(options.keyPrefix, options.environment)
  const peppers = createPeppers(options.peppers)
  const { signingKeyRefreshMs: refreshMs, clockSkewMs: skewMs } = options
  const timing = timingOf({ refreshMs, maxAgeSeconds, skewMs, maxTtlSeconds: MAX_TTL_SECONDS })
  const { algorithm, signingKeys: storage } = options
  const ring = createKeyRing({ storage, algorithm, clock, refreshMs, timing })
  const { authenticateKey, forget, flush } = createAuthenticator(options, texts, peppers)
  const accounts = createAccounts(options, forget)
  const policies = policyReader(options)
  const manager = createSessionManager(options, accounts)

  return {
    authenticateKey,
    flush,
    policies,
    createKey: createKeyMaker(options, texts, peppers, accounts),
    listKeys: caller => listKeys(accounts, policies, caller),
    ...createKeyChanger(options, accounts),
    rotateKey: createKeyRotator(options, texts, peppers, accounts),
    async revokeAccount(accountId) {
      const revoked = await accounts(accountId, (all, now) => {
        const write = ended(
          all,
          all.map(key => key.id),
          now,
        )
        const notes = [noteOn('account.revoke', accountId), ...notesOn('key.revoke', write.keys)]
        return { ok: true, value: write.keys.length, write: { ...write, by: actorOf('operator'), notes } }
      })
      return { keys: revoked.ok ? revoked.value : 0, sessions: await manager.endAccountSessions(accountId) }
    },
    issueSession: createSessionIssuer(options, ring),
    listSessions: manager.listSessions,
    endSession: manager.endSession,
    endSessionWithKeys: manager.endSessionWithKeys,
    listAudit: (accountId, limit, before = Number.MAX_SAFE_INTEGER) =>
      options.audit.list(accountId, limit, before),
    isCurrent: manager.isCurrent,
    jwks: async () => ({
      keys: [...(await ring.publicKeys())],
      maxAgeSeconds,
      headers: [
        ['content-type', 'application/jwk-set+json'],
        ['cache-control', `public, max-age=${maxAgeSeconds}`],
      ],
    }),
    verificationKey: ring.publicKey,
    listSigningKeys: ring.states,
    rotateSigningKey: () => ring.rotate(0),
    dropSigningKey: ring.drop,
    async maintain() {
      const now = clock.now()
      return {
        rotatedSigningKey: await ring.rotate(options.signingKeyDays * 86_400_000),
        collectedKeys: await keys.collect(COLLECT_LIMIT, now - options.endedKeyRetentionMs),
        collectedSessions: await sessions.collect(COLLECT_LIMIT, now),
        collectedAudit: await collectAudit(options.audit, now),
      }
    },
  }
}
