import type { Denial, Rule, Session, Verdict, EpochMs, HeaderField } from '@gatewright/kernel'
import type { OldName, RequestFacts } from './request/facts.ts'

/** Translates old names of paths, headers and body fields: `createAliases` of legacy-alias-router, or your own. It does no I/O. */
export interface AliasPort {
  /** Translates the path and the headers of a request. */
  resolve(facts: Pick<RequestFacts, 'method' | 'path' | 'header'>): Verdict<{
    readonly path: string
    /** Values that arrived under an old header name, by the current name. */
    readonly headers: Readonly<Record<string, string>>
    /** The old names that the request used, for decision events. */
    readonly used?: readonly OldName[]
    /** Header fields for every response to the request, errors included. */
    readonly responseHeaders: readonly HeaderField[]
  }>
  /** Translates the fields of a request body, before the body is checked. */
  readFields?(
    operation: string,
    body: Readonly<Record<string, unknown>>,
  ): Verdict<{ readonly body: Record<string, unknown>; readonly used: readonly OldName[] }>
  /**
   * Whether `readFields` translates bodies of an operation. True: an existing handler that would get them as they were sent,
   * because its route is neither idempotent nor has a body schema, is refused at start-up. Default: undefined, and such
   * handlers are accepted.
   */
  renamesFields?(operation: string): boolean
  /** Returns the header fields for every response to a request that used these names. Default: those of `resolve`. */
  responseHeaders?(used: readonly OldName[]): readonly HeaderField[]
}

/** The members that a guard must return for a request that may proceed. */
export interface AccessLike {
  readonly session: Session
  /** Header fields for the response, such as `RateLimit`. */
  readonly headers: readonly HeaderField[]
  /** What the decision was made from, for decision events only. */
  readonly evidence?: Pick<CallerIds, 'policyRevision'>
}

/** What a guard gets of a request. */
export interface GuardFactsLike {
  readonly authorization: string | undefined
  readonly address?: string
  /** The `DPoP` field. Present if the request has one, with `method` and `url`. */
  readonly dpop?: string | undefined
  readonly method?: string
  /** The path as received, before old names were translated. The guard has the origins of the API in its own options. */
  readonly url?: string
}

/**
 * Decides whether a request may proceed: `createGuard` of scope-guard, or your own. For operations that spend it also has `reserve`,
 * `settle`, `release` and `permits`. `A` is what it returns for a request that may proceed, `H` a hold.
 */
export interface GuardPort<A extends AccessLike, H = unknown> {
  check(facts: GuardFactsLike, rule: Rule): Promise<Verdict<A>>
  /** Decides whether a credential belongs to a valid session, without a rule, for `session(request)` of a binding. Counts nothing. */
  authenticate?(facts: GuardFactsLike): Promise<Verdict<Session>>
  /** Counts a request of a session under the rate limits of a rule, and checks nothing else. Default: such requests are not counted. */
  admit?(
    session: Session,
    facts: { readonly address?: string },
    rule: Rule,
  ): Promise<Verdict<readonly HeaderField[]>>
  /** Checks a rule at start-up. Throws for a rule that can never be satisfied. */
  prepare(rule: Rule): void
  /**
   * Decides whether a request that `check` accepted may still proceed: expiry, revocation and policy, but no limits. A gate
   * calls it before the handler, if at least 100 ms passed since `check`, as with a body that arrives slowly. Default: every
   * such request may proceed.
   */
  recheck?(access: NoInfer<A>, facts: { readonly address?: string }): Promise<Verdict<unknown>>
  /** The DPoP proofs that the guard accepts, for the metadata of the API. Default: none. */
  readonly dpop?: { readonly algorithms: readonly string[]; readonly isRequired: boolean } | undefined
  /** False: the guard has no store of its own to count in. Default: it has one. */
  readonly countsSpends?: boolean
  /**
   * Holds an amount under every cap of the session, or denies it. Repeating the call with the same `holdId` returns the same
   * hold. `approval` names the request, whose amount may have to be approved first.
   */
  reserve?(
    access: NoInfer<A>,
    spend: AmountLike & { readonly holdId?: string; readonly approval?: ApprovedFor },
    storage?: never,
    approvals?: never,
  ): Promise<Verdict<H>>
  /**
   * Asks for the approval of an amount that `reserve` has denied with `approval_required`, and returns the denial for the client. Called
   * when nothing of the run is open. Required if the guard has `approvals`.
   */
  requestApproval?(
    access: NoInfer<A>,
    spend: AmountLike & { readonly approval?: ApprovedFor },
  ): Promise<Denial>
  /** Whether amounts can be approved: undefined if not. Default: they cannot. */
  readonly approvals?: unknown
  /** Releases a hold. False: the hold was ended before. */
  release?(hold: H): Promise<boolean>
  /** Ends a hold and counts `actualCents` as spent, in the currency of the reservation. `gone`: the hold was ended before. */
  settle?(hold: H, actualCents: number): Promise<unknown>
  /** Decides whether an amount is within the limits on a single operation. It reads no counter. */
  permits?(access: NoInfer<A>, amount: AmountLike): Promise<Verdict<unknown>>
}

/** The request that an approval is for, and the effect that uses it. */
export interface ApprovedFor {
  readonly requestId: string
  readonly effectId: string
}

/** A guard that also counts what its sessions spend. */
export type SpendGuardPort = GuardPort<AccessLike> &
  Required<Pick<GuardPort<AccessLike>, 'reserve' | 'release' | 'settle' | 'permits'>>

/** The ids of the caller, for decision events only. */
export interface CallerIds {
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  readonly sessionId: string | undefined
  /** The revision of the policies of the caller: `Evidence.policyRevision` of the guard. */
  readonly policyRevision?: string | undefined
}

/**
 * A kind of credential that the application declares, such as a partner's key. A gate reads only the credentials that a route
 * names.
 */
export interface Credential<T> {
  /** Verifies the credential of a request. Denial: usually `unauthorized` (401). */
  check(facts: RequestFacts, rule: Rule): Promise<Verdict<T>>
  /** Whether a request carries the credential. Required if a route names another credential after it. */
  present?(facts: RequestFacts): boolean
  /** Checks a rule at start-up. Throws for a rule that can never be satisfied. */
  prepare?(rule: Rule): void
  /** Decides again about a caller whose request took 100 ms or longer to arrive. See `GuardPort.recheck`. */
  recheck?(caller: T, facts: RequestFacts): Promise<Verdict<unknown>>
  /** Returns header fields for the response, such as `RateLimit`. */
  headersOf?(caller: T): readonly HeaderField[]
  /** Returns ids for the decision event. */
  idsOf?(caller: T): CallerIds
}

/** Credentials by name. A function is the `check` of a credential. */
export interface Credentials {
  readonly [name: string]: Credential<unknown> | Credential<unknown>['check']
}

/** An amount of money in a currency. */
export interface AmountLike {
  /** Minor units of the currency. */
  readonly amountCents: number
  readonly currency: string
  /** Other operations that this movement of money completes. Their limits apply too. */
  readonly countsAs?: readonly string[]
  /** Who gets the money: one name, or all names by which a policy may know the payee. */
  readonly payee?: string | readonly string[]
}

/** A response as it is stored and sent: its body is text. */
export interface WireResponse {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: string
  /** The body was too large to store, or is not text: `body` is empty, and the rest is unchanged. */
  readonly bodyOmitted?: true
  /** The body of a response that is sent piece by piece: `body` is empty. Such a response is never stored. */
  readonly chunks?: AsyncIterable<string>
}

/** A response as it is recorded. `spends` are the amounts that the run reserved; they are never sent. */
export interface RecordedResponse extends WireResponse {
  readonly spends?: readonly AmountLike[]
}

/** What identifies an idempotent write. */
export interface WriteFacts {
  /** The owner of the key, as `accountOf` says. */
  readonly account: string
  /** The account id of the session, for operators who decide about lost runs. */
  readonly accountLabel: string
  readonly operation: string
  readonly key: string | undefined
  readonly method: string
  /** The canonical path, and the query if it is part of the write, as one text. */
  readonly target: string
  readonly body: Uint8Array
}

/** The right to run a write once. */
interface Claim {
  readonly fence: number
  readonly effectId: string
}

/** Decides whether a write is new, running, completed or of unknown outcome: `createIdempotency` of idempotency-store. */
export interface IdempotencyPort {
  /** How long a run may take, in ms. A handler that has not responded after half of it is reported. Default: none is. */
  readonly maxRunMs?: number
  begin(facts: WriteFacts): Promise<
    Verdict<
      | { readonly state: 'started'; readonly claim: Claim }
      | {
          readonly state: 'replay'
          readonly response: RecordedResponse
          readonly expiresAt?: EpochMs
          readonly effectId?: string
        }
    >
  >
  /**
   * Records the response of a run. `late`: another run has completed the write. With `expiresAt` the response is stored until
   * then, with its `spends`. `undo` is called only if the key will be freed, and before that. It calls `mayUndo` before each
   * release, and throws if that returns false. If `undo` throws, the outcome of the run remains unknown, and `complete` throws
   * the error.
   */
  complete(
    claim: Claim,
    output: RecordedResponse,
    undo?: (mayUndo?: () => boolean) => Promise<void>,
  ): Promise<{ readonly state: string; readonly expiresAt?: EpochMs }>
  /** Frees the key of a run without effect. Required for routes with `prepare`. */
  release?(claim: Claim): Promise<boolean>
  /**
   * Extends the lease of a run that has had no effect yet, so that it is long enough for the handler. Undefined: another run
   * has decided about the key. Called after `prepare`. Without it, a handler has only the rest of the lease that `prepare`
   * left.
   */
  renew?(claim: Claim): Promise<Claim | undefined>
}

/**
 * Runs a write whose record, rows and response commit together: `createTransactionalIdempotency` of idempotency-store, or
 * your own. `Tx` is the transaction that the handler writes with.
 */
export interface TransactionPort<Tx> {
  run(
    facts: WriteFacts,
    handler: (tx: Tx, run: Claim) => Promise<RecordedResponse>,
    prepare?: (run: { readonly effectId: string }) => Promise<void>,
  ): Promise<
    Verdict<{
      readonly response: RecordedResponse
      readonly replayed: boolean
      readonly expiresAt: EpochMs | null
      readonly effectId?: string
    }>
  >
  /**
   * Runs a write without a record, for `idempotencyKey` other than `required`: in a transaction that a response of 400 or more rolls back,
   * with a random `effectId`.
   */
  runUnrecorded?(
    handler: (tx: Tx, run: Claim) => Promise<RecordedResponse>,
    prepare?: (run: { readonly effectId: string }) => Promise<void>,
  ): ReturnType<TransactionPort<Tx>['run']>
}
