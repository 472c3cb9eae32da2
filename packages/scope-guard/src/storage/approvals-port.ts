import type { EpochMs } from '@gatewright/kernel'

/** What an approval lets happen: one operation of one key with one payee and amount, under the policies that ask for it. */
export interface ApprovalRequest {
  readonly accountId: string
  /** The key that asks. */
  readonly keyId: string
  readonly operation: string
  /** The names of the payee; none if the spend names no payee. */
  readonly payee: readonly string[]
  readonly amountCents: number
  readonly currency: string
  /** The policies whose thresholds the amount exceeds. Whoever is bound by one of them must not decide. */
  readonly policyIds: readonly string[]
}

/** Whether an approval waits, was decided, or has let its operation happen. */
type ApprovalState = 'pending' | 'approved' | 'denied' | 'used'

/** An approval as it is stored. */
export interface Approval {
  /** A digest of the request and its idempotency key, so the same request has one approval. */
  readonly id: string
  readonly request: ApprovalRequest
  readonly state: ApprovalState
  readonly requestedAt: EpochMs
  /** From this instant on it can be neither decided nor used, nor used again for its effect. */
  readonly expiresAt: EpochMs
  /** Who decided, as `decide` was told; null before. */
  readonly decidedBy: string | null
  readonly decidedAt: EpochMs | null
}

/** The outcome of asking. `known`: it was asked for before. `full`: the account has as many open approvals as it may have. */
type OpenOutcome =
  | { readonly outcome: 'opened' | 'known'; readonly approval: Approval }
  | { readonly outcome: 'full' }

/** The outcome of a decision. `already`: somebody decided before, as the approval says. `gone`: no approval has this id, or it has expired. */
export type DecideOutcome =
  | { readonly outcome: 'decided' | 'already'; readonly approval: Approval }
  | { readonly outcome: 'gone' }

/**
 * Stores approvals. All approvals of an account are stored together. An approval is open while it is pending, or approved and not used,
 * before its `expiresAt`. Faults of every function: `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY`, after which it is unknown whether the
 * step took effect; `ERR_STORE_FULL`, after which it did not.
 */
export interface ApprovalStorage {
  /**
   * Asks for an approval, or finds the one that has this id and has not expired. One that has expired or was used is replaced by a new one that is
   * pending. Of simultaneous calls for one id, one opens it. An account never has more than `most` open approvals.
   */
  open(
    approval: Pick<Approval, 'id' | 'request' | 'requestedAt' | 'expiresAt'>,
    most: number,
  ): Promise<OpenOutcome>

  /** Returns an approval that has not expired. */
  find(accountId: string, id: string, now: EpochMs): Promise<Approval | undefined>

  /** Returns the open approvals of an account, oldest first. */
  list(accountId: string, now: EpochMs): Promise<readonly Approval[]>

  /** Approves or denies a pending approval. Of simultaneous decisions one takes effect; the others learn which. */
  decide(
    accountId: string,
    id: string,
    decision: { readonly state: 'approved' | 'denied'; readonly by: string },
    now: EpochMs,
  ): Promise<DecideOutcome>

  /**
   * Uses an approved approval for one effect, once: for the same `effectId` it can be repeated, as after a crash. False: it is not
   * approved, has expired, or another effect has used it.
   */
  use(accountId: string, id: string, effectId: string, now: EpochMs): Promise<boolean>

  /**
   * Ends the open approvals of keys, such as one that is revoked and the keys below it, and returns them as they were. A simultaneous `use` or
   * decision takes effect before, or finds none.
   */
  withdraw(accountId: string, keyIds: readonly string[], now: EpochMs): Promise<readonly Approval[]>

  /**
   * Ends up to `limit` approvals, of all accounts, that were open when they expired, and returns them as they were: each once, whoever calls at the same
   * time. Stores that expire entries themselves do nothing and return none.
   */
  expire(limit: number, now: EpochMs): Promise<readonly Approval[]>

  /**
   * Deletes up to `limit` approvals that expired at least `GRACE_MS` before `now`, and returns how many. Stores that expire entries
   * themselves do nothing and return 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}
