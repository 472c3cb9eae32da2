import type { Session, Surface, Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Access, Amount, Spend, SpendHold } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import type { Static, TObject } from 'typebox/type'
import type { CanonicalFacts } from '@gatewright/http'
import { isKeySession } from './key-session.ts'

/** What a request must prove; only the credential named here is read. */
export interface Callers {
  readonly none: undefined
  readonly 'user-key': ApiKey
  readonly 'partner-key': ApiKey
  /** The user key where `X-User-Key` came, else the session with the operation's scopes. */
  readonly 'user-key-or-session': ApiKey | Access
  readonly session: Access
}
export type Credential = keyof Callers

/** A request that has passed its operation's rule. */
export interface Call<C extends Credential, B> {
  readonly facts: CanonicalFacts
  readonly caller: Callers[C]
  /** Path parameters by name, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The request body, checked against the operation's schema. Properties it does not name are kept. */
  readonly body: B
}

/** An answer before it is put into the envelope of contract section 2. */
export interface Success {
  readonly data: Readonly<Record<string, unknown>>
  readonly summary: string
  readonly next?: string
}

/** An answer that is a document of its own, such as a JWKS. */
export interface Document {
  /** Sent as JSON; a text is sent as it is. */
  readonly document: unknown
  /** Default 200. */
  readonly status?: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** What a ledger write works with, besides its call. */
export interface Effect<A = unknown> {
  /** The one transaction of idempotency record and business rows. Nothing else may be used. */
  readonly tx: SqlQueries
  /** Stable id of the effect: the same on every retry of the same idempotency key. */
  readonly effectId: string
  /** What `ask` brought. */
  readonly asked: A
  /**
   * Holds an amount under every policy of the caller, in the same transaction. The amount is the server's own figure where
   * it has one. Only for an operation that `spends`, once, unless the effect was
   * made before. Denial: `policy_blocked`.
   */
  reserve(spend: Spend): Promise<Verdict<SpendHold>>
  /**
   * Whether the caller's limits on one operation allow an amount: for what the same effect has made before, which is answered
   * again and holds nothing anew. Denial: `policy_blocked`.
   */
  permits(amount: Amount): Promise<Verdict<undefined>>
}

/** What the API description shows of an operation. A test holds both parts against the schemas of the operation. */
export interface Example<S extends TObject = TObject, D extends TObject = TObject> {
  /** Required where the operation takes a body. */
  readonly body?: Static<S>
  /** The `data` of a success, or the whole document. */
  readonly answer: Static<D>
}

interface Rule<C extends Credential, S extends TObject, D extends TObject> {
  /** `tag.verb`: names the operation in policies, idempotency records, evidence and the API description. */
  readonly id: string
  /** One line for people. */
  readonly title: string
  readonly surface: Surface | 'public'
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Canonical paths with `{name}` parameters; the first is the one documents show. */
  readonly paths: readonly [string, ...string[]]
  readonly credential: C
  /**
   * A limit on an operation that no session guards: by client address, or by the key that was proven. One that anybody may
   * call must name its limit, and `none` where it is to have none.
   */
  readonly limit?: 'bootstrap' | 'document' | 'mint' | 'none'
  /** Scopes a session needs, all of them. Sessions only. */
  readonly scopes?: readonly string[]
  /** Query parameters, for the API description; the handler reads them. */
  readonly query?: TObject
  readonly body?: S
  /** The shape of `data`, or of the whole document. */
  readonly answer: D
  readonly example: Example<S, D>
  /** Statuses beyond those that follow from the rule: 404 and 409 where the handler refuses so. */
  readonly refuses?: readonly (404 | 409)[]
  /** Fields of `data` are repeated at top level, where existing clients read them. */
  readonly topLevel?: boolean
  /** The answer is a document of its own, without the envelope. */
  readonly document?: boolean
  /** Media type of such a document. Default `application/json`. */
  readonly mediaType?: string
  /** Statuses beside 200 with which the same document is answered. */
  readonly documentStatuses?: readonly number[]
}

/** An operation that answers at once. */
export interface PlainOperation<
  C extends Credential = Credential,
  S extends TObject = TObject,
  D extends TObject = TObject,
> extends Rule<C, S, D> {
  handle(call: Call<C, Static<S>>): Promise<Verdict<Success | Document>>
}

/** A financial write: needs an idempotency key, and commits its rows and its answer together. */
export interface LedgerOperation<S extends TObject = TObject, D extends TObject = TObject, A = unknown>
  extends Rule<'session', S, D> {
  readonly credential: 'session'
  /** Whether it moves money of the caller, so that caps bind: `write` reserves the amount. */
  readonly spends: boolean
  /** Asks the outside world before the transaction opens, where no answer is stored yet. It must not change anything. */
  ask?(call: Call<'session', Static<S>>): Promise<A>
  write(call: Call<'session', Static<S>>, effect: Effect<A>): Promise<Verdict<Success>>
}

/** A row of the operation table, its own types checked and then forgotten. */
export type Operation = PlainOperation | LedgerOperation

/** Declares an operation that answers at once. */
export function operation<C extends Credential, S extends TObject, D extends TObject>(
  rule: PlainOperation<C, S, D>,
): Operation {
  return rule
}

/** Declares a financial write. */
export function ledgerWrite<S extends TObject, D extends TObject, A = undefined>(
  rule: LedgerOperation<S, D, A>,
): Operation {
  return rule
}

/** Who calls, as the issuer takes it: the key, also where it stands in for a session, or the session. */
export function callerOf(caller: ApiKey | Access): ApiKey | Session {
  if (!('session' in caller)) return caller
  return isKeySession(caller.session) ? caller.session.key : caller.session
}
