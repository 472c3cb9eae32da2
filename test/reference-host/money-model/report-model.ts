// What reports of providers must do to the money of one account, written from docs/card-authorizations.md and
// docs/deposits-and-withdrawals.md: sums, in no order and without a ledger.

/** A payment by card. */
export interface ModelAuthorization {
  readonly kind: 'authorization'
  readonly id: string
  state: 'authorized' | 'cleared' | 'reversed'
  /** What was asked for, with the increments that were approved. */
  totalCents: number
  heldCents: number
  /** The ids of movements that were taken. */
  readonly taken: Set<string>
  /** The terms of refunds that came too early, by their id. */
  readonly early: Map<string, string>
  /** What reversals have named, or moved if they named nothing. */
  reversedCents: number
  /** What the caps hold: the first amount and each increment. */
  holds: number
  clearedCents: number
  refundedCents: number
  excessCents: number
}

/** A withdrawal. */
export interface ModelWithdrawal {
  readonly kind: 'withdrawal'
  readonly id: string
  readonly amountCents: number
  state: 'open' | 'completed' | 'failed'
  /** The most that was reported as paid, beyond what left. */
  paidExcessCents: number
  /** The most that was reported as returned after it had left. */
  returnedCents: number
}

/** The account. */
export interface ReportModel {
  availableCents: number
  readonly authorizations: ModelAuthorization[]
  readonly withdrawals: ModelWithdrawal[]
  readonly deposits: string[]
  /** What was credited, by the id of the payment. */
  readonly credited: Map<string, number>
}

const FEE_CENTS = 50

export const newReportModel = (): ReportModel => ({
  availableCents: 0,
  authorizations: [],
  withdrawals: [],
  deposits: [],
  credited: new Map(),
})

/** A clearing pays the merchant up to the hold, and more than the hold is excess. After the last one the rest comes back. */
export function clear(model: ReportModel, one: ModelAuthorization, cents: number, final: boolean): void {
  const paid = Math.min(cents, one.heldCents)
  one.clearedCents += paid
  one.heldCents -= paid
  one.excessCents += cents - paid
  if (!final || one.state !== 'authorized') return
  one.state = 'cleared'
  giveBack(model, one, one.heldCents)
}

/**
 * A reversal gives back a part of the hold, or all of it, which ends the payment. What it names beyond the hold is excess, if the merchant
 * has collected it and nothing was given back for it.
 */
export function reverse(model: ReportModel, one: ModelAuthorization, cents: number | null): void {
  const back = Math.min(cents ?? one.heldCents, one.heldCents)
  const beyond = (cents ?? back) - back
  const unclaimed = one.totalCents - one.heldCents - one.clearedCents - one.reversedCents
  one.excessCents += Math.min(Math.max(0, beyond - Math.max(0, unclaimed)), one.clearedCents)
  one.reversedCents += cents ?? back
  giveBack(model, one, back)
  if (one.state === 'authorized' && one.heldCents === 0)
    one.state = one.clearedCents === 0 ? 'reversed' : 'cleared'
}

function giveBack(model: ReportModel, one: ModelAuthorization, cents: number): void {
  model.availableCents += cents
  one.heldCents -= cents
}

/** Whether a refund comes before anything has cleared that still can: then it is sent again later. */
export const isEarly = (one: ModelAuthorization): boolean =>
  one.state === 'authorized' && one.clearedCents === 0

/** A refund gives back up to what cleared; the rest is excess. */
export function refund(model: ReportModel, one: ModelAuthorization, cents: number): void {
  if (isEarly(one)) return
  const back = Math.min(cents, one.clearedCents - one.refundedCents)
  one.refundedCents += back
  one.excessCents += cents - back
  model.availableCents += back
}

/** A payment to a deposit is credited once, whatever deposit names it later, and with whatever amount. */
export function credit(model: ReportModel, paymentId: string, cents: number): void {
  if (model.credited.has(paymentId)) return
  model.credited.set(paymentId, cents)
  model.availableCents += cents
}

/** The first final report ends a withdrawal. Of what reports name beyond it, the most counts: paid in excess, and returned. */
export function report(
  model: ReportModel,
  one: ModelWithdrawal,
  status: 'completed' | 'failed',
  paidCents: number | null,
): void {
  const expected = one.amountCents - FEE_CENTS
  const reported = paidCents ?? expected
  if (one.state === 'open') {
    one.state = status
    if (status === 'failed') model.availableCents += one.amountCents
  } else if (status === 'failed' && one.state === 'completed') {
    one.returnedCents = Math.max(one.returnedCents, reported)
  }
  if (status === 'completed') {
    const excess = one.state === 'completed' ? reported - expected : reported
    one.paidExcessCents = Math.max(one.paidExcessCents, excess)
  }
}

/** Where all the money must be, and what the caps and the operator must know. */
export interface Books {
  readonly available: number
  readonly pending: number
  readonly cleared: number
  readonly paidOut: number
  readonly fees: number
  readonly deposited: number
  readonly counted: number
  readonly holds: number
  readonly authorizationExcess: number
  readonly withdrawalExcess: number
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0)

export function booksOf(model: ReportModel): Books {
  const { authorizations, withdrawals } = model
  const open = withdrawals.filter(({ state }) => state === 'open')
  const completed = withdrawals.filter(({ state }) => state === 'completed')
  const left = sum([...open, ...completed].map(({ amountCents }) => amountCents))
  const heldByCards = sum(authorizations.map(({ heldCents }) => heldCents))
  // The caps keep the whole amount until the authorization ends.
  const countedOf = ({ state, totalCents, clearedCents }: ModelAuthorization): number =>
    state === 'authorized' ? totalCents : clearedCents
  const clearedCents = sum(authorizations.map(each => each.clearedCents))
  return {
    available: model.availableCents,
    pending: heldByCards + sum(open.map(({ amountCents }) => amountCents)),
    cleared: clearedCents - sum(authorizations.map(({ refundedCents }) => refundedCents)),
    paidOut: sum(completed.map(({ amountCents }) => amountCents - FEE_CENTS)),
    fees: completed.length * FEE_CENTS,
    deposited: sum(model.credited.values()),
    // A refund gives no cap back; a withdrawal counts under two caps.
    counted: sum(authorizations.map(countedOf)) + 2 * left,
    holds:
      open.length +
      sum(authorizations.filter(({ state }) => state === 'authorized').map(({ holds }) => holds)),
    authorizationExcess: sum(authorizations.map(({ excessCents }) => excessCents)),
    withdrawalExcess: sum(withdrawals.map(each => each.paidExcessCents + each.returnedCents)),
  }
}
