import type { EpochMs, Rule, Session, Verdict, HeaderField } from '@gatewright/kernel'
import type { CallerIds } from './decision.ts'
import type { OldName, RequestFacts } from './facts.ts'

/** Translates old names: `createAliases` of legacy-alias-router, or your own. It does no I/O. */
export interface AliasPart {
  resolve(facts: AliasQuestion): Verdict<AliasReply>
  /** Translates the fields of a request body, before it is checked. */
  readFields?(
    operation: string,
    body: Readonly<Record<string, unknown>>,
  ): Verdict<{ readonly body: Record<string, unknown>; readonly used: readonly OldName[] }>
  /** Fields for every answer to a request that used these names. Without it, those of `resolve`. */
  answerHeaders?(used: readonly OldName[]): readonly HeaderField[]
}

/** What an alias part looks at. */
export interface AliasQuestion {
  readonly method: string
  readonly path: string
  header(name: string): string | undefined
}

/** The canonical request. */
export interface AliasReply {
  readonly path: string
  /** Canonical headers whose value arrived under a legacy name. */
  readonly headers: Readonly<Record<string, string>>
  /** The old names that were used, for decision events. */
  readonly used?: readonly OldName[]
  /** Fields for every answer to the request, errors included. */
  readonly answerHeaders: readonly HeaderField[]
}

/** What one guarded operation asks of a request; `S`: the scopes of the team's catalogue. */
export type GuardedRule<S extends string = string> = Rule<S>

/** What a passed guard hands over. */
export interface AccessLike {
  readonly session: Session
  /** Header fields for the answer, such as `RateLimit`. */
  readonly headers: readonly HeaderField[]
}

/** Decides whether a request may pass: `createGuard` of scope-guard, or your own. */
export interface GuardPart<A extends AccessLike> {
  check(
    facts: { readonly authorization: string | undefined; readonly address?: string },
    rule: GuardedRule,
  ): Promise<Verdict<A>>
  /** Throws at start-up for a rule that can never work. */
  prepare(rule: GuardedRule): void
}

/**
 * A credential that the team declares, such as a partner's key. A route names it, and only what its routes name is read.
 * `present` is for one that a route names before another: whether the request carries it.
 */
export interface CredentialPart<T> {
  /** Proves it. Denial: usually `unauthorized` (401). */
  check(facts: RequestFacts, rule: GuardedRule): Promise<Verdict<T>>
  present?(facts: RequestFacts): boolean
  /** Throws at start-up for a rule that can never work. */
  prepare?(rule: GuardedRule): void
  /** Header fields for the answer, such as `RateLimit`. */
  headersOf?(caller: T): readonly HeaderField[]
  /** Ids for the decision event. */
  idsOf?(caller: T): CallerIds
}

/** What a gate's option `credentials` holds: a function is the `check` of a part. */
export type Credential<T> = CredentialPart<T> | CredentialPart<T>['check']

/** An amount that a run has reserved. */
export interface SpentLike {
  /** Minor units of the currency. */
  readonly amountCents: number
  readonly currency: string
  /** Other operations that moving it completes, whose limits bind too. */
  readonly countsAs?: readonly string[]
}

/** The money one call of a run is to reserve. */
export interface SpendLike extends SpentLike {
  readonly holdId?: string
}

/** A guard that also counts what its sessions spend: `createGuard` of scope-guard, or your own. */
export interface SpendGuardPart<A extends AccessLike, H> extends GuardPart<A> {
  /** Holds an amount under every cap of the session, or refuses. The same `holdId` again finds its hold. */
  reserve(access: A, spend: SpendLike, storage?: never): Promise<Verdict<H>>
  /** Gives a hold back. False: it was ended before. */
  release(hold: H): Promise<boolean>
  /** Whether an amount passes the limits on one operation alone; no counter is asked. */
  permits(access: A, spent: SpentLike): Promise<Verdict<unknown>>
}

/** An answer as it is stored and sent: the body is text. */
export interface WireAnswer {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: string
  /** The body was too large to keep, or is not text: `body` is empty, the rest is real. */
  readonly bodyOmitted?: true
}

/** An answer as it is recorded. `spends` is the server's own note of what the run has reserved, and is never sent. */
export interface RecordedAnswer extends WireAnswer {
  readonly spends?: readonly SpentLike[]
}

/**
 * Runs a write whose record, rows and answer commit together: `createTransactionalIdempotency` of idempotency-store, or your
 * own. `Tx` is what the handler works with.
 */
export interface TransactionPart<Tx> {
  run(
    facts: WriteFacts,
    handler: (tx: Tx, run: { readonly effectId: string; readonly fence: number }) => Promise<RecordedAnswer>,
    prepare?: () => Promise<void>,
  ): Promise<
    Verdict<{
      readonly response: RecordedAnswer
      readonly replayed: boolean
      readonly expiresAt: EpochMs | null
    }>
  >
}

/** What an idempotent write is known by. */
export interface WriteFacts {
  readonly account: string
  readonly operation: string
  readonly key: string | undefined
  readonly method: string
  readonly body: Uint8Array
}

/** The right to run a write once. */
export interface ClaimLike {
  readonly fence: number
  readonly effectId: string
}

/** What `begin` came to. */
export type BeginReply<C extends ClaimLike> =
  | { readonly state: 'started'; readonly claim: C }
  | { readonly state: 'replay'; readonly response: RecordedAnswer; readonly expiresAt?: EpochMs }

/** Decides whether a write is new, running, done or of unknown outcome: `createIdempotency` of idempotency-store. */
export interface IdempotencyPart<C extends ClaimLike = ClaimLike> {
  begin(facts: WriteFacts): Promise<Verdict<BeginReply<C>>>
  /**
   * `late`: another run has decided. With `expiresAt` the answer is kept until then, with its `spends`. `undo` is called
   * before the key is freed, and only then; where it throws, the outcome of the run stays unknown and its error is thrown.
   */
  complete(
    claim: C,
    answer: RecordedAnswer,
    undo?: () => Promise<void>,
  ): Promise<{ readonly state: string; readonly expiresAt?: EpochMs }>
  /** Frees the key: nothing has happened. Needed where a route has a `prepare`. */
  release?(claim: C): Promise<boolean>
}
