import type { CanonicalFacts } from '@gatewright/http/internal'
import type { Rule, Session, Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Access, SpendHold } from '@gatewright/scope-guard'
import type { Spend, Amount } from '@gatewright/scope-guard/internal'
import type { ApiKey } from '@gatewright/session-issuer'
import type { Static, TObject } from 'typebox/type'
import { isKeySession } from '../credentials/key-session.ts'
import type { ProviderMessage } from '../credentials/provider-messages.ts'
import type { WebCaller } from '../credentials/web-session.ts'

/** The caller's type by the credential that an operation requires. Only that credential is read. */
export interface CallerByCredential {
  readonly none: undefined
  readonly 'user-key': ApiKey
  readonly 'partner-key': ApiKey
  /** The user key when `X-User-Key` was sent, else the session with the operation's scopes. */
  readonly 'user-key-or-session': ApiKey | Access
  readonly session: Access
  /** A web token (recognized by its format), else the session with the operation's scopes. */
  readonly 'session-or-web-token': Access | WebCaller
  /** The user key when `X-User-Key` was sent, else a web token, else the session with the operation's scopes. */
  readonly 'user-key-web-token-or-session': ApiKey | WebCaller | Access
  readonly 'web-token': WebCaller
  /** A provider that signed the request. */
  readonly provider: ProviderMessage
}
export type CredentialKind = keyof CallerByCredential

/** A request that passed authentication, authorisation and the checks of its query and body. */
export interface Call<C extends CredentialKind, B, Q = unknown> {
  readonly facts: CanonicalFacts
  readonly caller: CallerByCredential[C]
  /** Decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** The query parameters that the operation's schema names, in the types that it says. */
  readonly query: Q
  /** The body, checked against the operation's schema. Members that the schema does not name are kept. */
  readonly body: B
}

/** A successful response before it is put into the envelope `{ ok, data, summary, errors }`. */
export interface Success {
  readonly data: Readonly<Record<string, unknown>>
  readonly summary: string
  readonly next?: string
  /** Default 200. */
  readonly status?: 202
  /**
   * The names in the request that the operation did not read. They depend on the request, so they are not stored with the
   * response.
   */
  readonly ignored?: readonly string[]
}

/** A response that is a document without the envelope, such as a JWKS. */
export interface Document {
  /** Sent as JSON; a string and a `StreamedBody` are sent as they are. */
  readonly document: unknown
  /** Default 200. */
  readonly status?: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The second argument of the handler of a write. */
export interface WriteContext<A = unknown> {
  /**
   * The one transaction of business rows and idempotency record. The handler must use no other connection.
   */
  readonly tx: SqlQueries
  /** Stable id of this write: the same for every retry with the same idempotency key; random without a key. */
  readonly effectId: string
  /** What `prepare` returned. */
  readonly prepared: A
  /**
   * Holds an amount under every policy of the caller, in the same transaction. Pass the server's own price
   * where there is one. Only for an operation that `spends`. Call it once, unless this effect already exists.
   * Denial: `policy_blocked`.
   */
  reserve(spend: Spend): Promise<Verdict<SpendHold>>
  /**
   * Decides whether the caller's limits on one operation allow an amount. Use it if the effect of this request exists already:
   * the response shows that effect, and nothing is held again. Denial: `policy_blocked`.
   */
  permits(amount: Amount): Promise<Verdict<undefined>>
  /**
   * Declares that this request spends nothing, for example because its effect exists already. Without this and without a
   * reservation, a success of an operation that `spends` is a 503 (`ERR_NOT_RESERVED`), and nothing is committed.
   */
  spendsNothing(): void
}

/** The example in the API description. A test checks it against the schemas of the operation. */
export interface Example<S extends TObject = TObject, D extends TObject = TObject> {
  /** Required when the operation takes a body. */
  readonly body?: Static<S>
  /** The `data` of a success, or the whole document. */
  readonly response: Static<D>
}

interface OperationDeclaration<
  C extends CredentialKind,
  S extends TObject,
  D extends TObject,
  Q extends TObject = TObject,
> {
  /** `tag.verb`: names the operation in policies, idempotency records, logs and the API description. */
  readonly id: string
  /** One line for the API description. */
  readonly title: string
  /** What the title does not say, in sentences for the API description. */
  readonly details?: string
  readonly surface: Surface | 'public'
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Paths with `{name}` parameters. Documentation shows the first one. */
  readonly paths: readonly [string, ...string[]]
  readonly credential: C
  /**
   * Rate limit of an operation without a session: by client address, or by API key for `mint`. A public operation must name its
   * limit, or `none`. The handler of a `poll` applies the limit itself, since it never denies a poll. `ending` is for
   * operations with a session that end a credential: no limit by account counts them, so that a session cannot keep the owner
   * of the account from ending that session or its key.
   */
  readonly limit?: 'ending' | 'bootstrap' | 'token-check' | 'poll' | 'document' | 'mint' | 'none'
  /** Scopes that a session must have, all of them. Sessions only. */
  readonly scopes?: readonly string[]
  /** A session must have one of these scopes, in addition to all of `scopes`. */
  readonly anyOf?: readonly string[]
  /** Whether its response reveals card secrets, which policies can forbid. */
  readonly cardSecrets?: boolean
  /**
   * Whether only a person may do it, and no model for the person: it reveals a secret, or states something in the person's name, such as an
   * agreement. Then it is no tool (`isTool`).
   */
  readonly personOnly?: boolean
  /** The resource of the server of tools that a read is, with the arguments that follow from the session. */
  readonly resource?: {
    /** Its URI is `gatewright://NAME`. */
    readonly name: string
    readonly arguments?: (session: Session) => Readonly<Record<string, unknown>>
  }
  /** All query parameters that the operation reads. See `querySchema` for how their texts become values. */
  readonly query?: Q
  /** All members of the body that the operation reads. A schema that keeps other members has `additionalProperties: true`. */
  readonly body?: S
  /**
   * What happens to a member of the body or a query parameter that the operation does not name. `list`: accepted, and listed in
   * the response as `ignored`. `deny`: 400 `invalid_request`. Default: `deny` for a write that requires an idempotency key, because it moves or
   * promises money, and a `currency` or a `tag` that is not read pays something else than was asked; `list` for others. Reads of a surface deny
   * unknown query parameters in any case. Every operation that makes or changes a key or a session must deny, because there a misspelt
   * `scopes` or `policy` would give all rights.
   */
  readonly unknownMembers?: 'deny' | 'list'
  /** Schema of `data`, or of the whole document. */
  readonly response: D
  readonly example: Example<S, D>
  /** Statuses of denials by the handler. All others follow from the declaration. */
  readonly denies?: readonly (401 | 404 | 409)[]
  /** Whether the members of `data` are repeated at the top level, where existing clients read them. */
  readonly topLevel?: boolean
  /** Whether the response is a redirect: a document with `Location` and no body. */
  readonly redirects?: boolean
  /** Whether the response is a document without the envelope. */
  readonly document?: boolean
  /** Media type of the document. Default: `application/json`. */
  readonly mediaType?: string
  /** Further statuses that the document can have. */
  readonly documentStatuses?: readonly number[]
}

/** An operation that reads, or whose service commits by itself. */
export interface PlainOperation<
  C extends CredentialKind = CredentialKind,
  S extends TObject = TObject,
  D extends TObject = TObject,
  Q extends TObject = TObject,
> extends OperationDeclaration<C, S, D, Q> {
  handle(call: Call<C, Static<S>, Static<Q>>): Promise<Verdict<Success | Document>>
}

/** A write: commits its rows in one transaction, together with its response when an idempotency key was sent. */
export interface LedgerOperation<S extends TObject = TObject, D extends TObject = TObject, A = unknown>
  extends OperationDeclaration<'session', S, D> {
  readonly credential: 'session'
  /**
   * Whether a request must have an idempotency key. Default: `required`, the only choice for what spends. Without a key no
   * response is replayed, so `write` itself must be safe to repeat.
   */
  readonly idempotency?: 'required' | 'optional' | 'none'
  /**
   * `onboarding`: the account is not locked, and has completed what its surface asks for, identity check and agreements. `unlocked`: it is not
   * locked. Either is needed wherever money leaves the account.
   */
  readonly requires?: 'onboarding' | 'unlocked'
  /**
   * Which money it spends. `spend` and `withdrawal`: the caller's money, under the caller's caps; `write` then calls `reserve`.
   * `card`: the money of a card's account, under the caps of the card. `false`: no money leaves the account.
   */
  readonly spends: false | 'spend' | 'withdrawal' | 'card'
  /**
   * Calls other services before the transaction opens, if no stored response exists and the onboarding requirements are met. It
   * must pass `effectId`, which is the same in every run of one request, so that it finds their results again. A denial becomes
   * the response and is not stored.
   */
  prepare?(call: Call<'session', Static<S>>, effectId: string): Promise<Verdict<A>>
  /**
   * Runs while the requirements are read, so also for an account that does not meet them: then everything is rolled back.
   */
  write(call: Call<'session', Static<S>>, context: WriteContext<A>): Promise<Verdict<Success>>
}

/** What sessions need for each operation of a host, by its surface and id, such as `user cards.create`. */
export type OperationRules = Map<string, Rule<never>>

/** A row of the operation table. Its own types were checked at its declaration. */
export type Operation = PlainOperation | LedgerOperation

/** Whether an operation serves a document of the host that anybody may read, also without HTTPS. */
export function isPublicDocument({ document, credential }: Operation): boolean {
  return document === true && credential === 'none'
}

/** Whether the policies of the caller bind the money that an operation moves. */
export function isCallersSpend(spends: LedgerOperation['spends']): spends is 'spend' | 'withdrawal' {
  return spends === 'spend' || spends === 'withdrawal'
}

/** Declares an operation that reads, or whose service commits by itself. */
export function operation<
  C extends CredentialKind,
  S extends TObject,
  D extends TObject,
  Q extends TObject = TObject,
>(rule: PlainOperation<C, S, D, Q>): Operation {
  return rule
}

/** Declares a write. */
export function ledgerWrite<S extends TObject, D extends TObject, A = undefined>(
  rule: LedgerOperation<S, D, A>,
): Operation {
  const unknownMembers = (rule.idempotency ?? 'required') === 'required' ? 'deny' : 'list'
  return { unknownMembers, ...rule }
}

/** Returns the caller for the issuer: the presented API key, or the session. */
export function callerOf(caller: ApiKey | Access): ApiKey | Session {
  if (!('session' in caller)) return caller
  return isKeySession(caller.session) ? caller.session.key : caller.session
}
