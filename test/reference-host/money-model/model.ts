/** What is known of an authorization. */
export interface KnownAuthorization {
  readonly id: string
  /** The network's own id, if a network asked for it. */
  readonly networkId: string | undefined
  readonly card: KnownCard
  readonly amountCents: number
  status: 'authorized' | 'cleared' | 'reversed'
  clearedCents: number
  refundedCents: number
  /** What was reported beyond what it held or what cleared, for the operator to book. */
  excessCents: number
}

/** What is known of a card. `countedCents` counts under its limit. */
export interface KnownCard {
  readonly id: string
  readonly limitCents: number | undefined
  countedCents: number
}

/** What is known of a withdrawal. */
export interface KnownWithdrawal {
  readonly id: string
  readonly amountCents: number
  /** The provider rejects it, so it fails at some time. */
  readonly rejected: boolean
  status: 'open' | 'completed' | 'failed'
  /** What the operator must book: the most that was reported as paid, beyond what left, and the most that was reported as returned. */
  paidExcessCents: number
  returnedCents: number
}

/** The caps of the key, and what left under them or is held. Other caps continue with what was used. */
interface Caps {
  spendCap: number
  withdrawalCap: number
  spent: number
  withdrawn: number
}

/** The expected state of an account, from what its client did and received. */
export interface Model {
  available: number
  /** Payments to this account that were sent and have no response yet. */
  incoming: number
  readonly contracts: Map<string, number>
  readonly cards: KnownCard[]
  readonly authorizations: KnownAuthorization[]
  readonly withdrawals: KnownWithdrawal[]
  /** Payments to deposits that were credited. */
  readonly payments: { readonly id: string; readonly creditedCents: number }[]
  readonly bills: { readonly id: string; readonly amountCents: number; paid: boolean }[]
  readonly caps: Caps
  readonly wrong: string[]
}

export const FEE_CENTS = 50

/** The caps of a key as the policy that the host takes. */
export function policyOf(spendCap: number, withdrawalCap: number): object {
  return { dailySpendCapCents: spendCap, dailyWithdrawalCapCents: withdrawalCap }
}

/** The model of a new account whose key has these caps. */
export function newModel(spendCap: number, withdrawalCap: number): Model {
  return {
    available: 0,
    incoming: 0,
    contracts: new Map(),
    cards: [],
    authorizations: [],
    withdrawals: [],
    bills: [],
    payments: [],
    wrong: [],
    caps: { spendCap, withdrawalCap, spent: 0, withdrawn: 0 },
  }
}

/** Counts what leaves under the caps; a negative amount comes back. */
export function count({ caps }: Model, cents: number, isWithdrawal = false): void {
  caps.spent += cents
  if (isWithdrawal) caps.withdrawn += cents
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const undecided = ({ withdrawals }: Model): KnownWithdrawal[] =>
  withdrawals.filter(({ rejected, status }) => rejected && status === 'open')

/** What can be had for certain, or at the most: rejected withdrawals and payments under way may have come or not. */
export interface Available {
  readonly balance: number
  readonly spend: number
  readonly withdrawal: number
}
export function leastAvailable(model: Model): Available {
  const { spendCap, withdrawalCap, spent, withdrawn } = model.caps
  return { balance: model.available, spend: spendCap - spent, withdrawal: withdrawalCap - withdrawn }
}
export function mostAvailable(model: Model): Available {
  const least = leastAvailable(model)
  const back = sum(undecided(model).map(each => each.amountCents))
  return {
    balance: least.balance + model.incoming + back,
    spend: least.spend + back,
    withdrawal: least.withdrawal + back,
  }
}

/** What is promised to merchants and to withdrawals. */
export function held({ authorizations, withdrawals }: Model): number {
  const open = withdrawals.filter(({ status }) => status === 'open')
  const cards = authorizations.filter(({ status }) => status === 'authorized')
  return sum([...open, ...cards].map(({ amountCents }) => amountCents))
}

/** How many holds under caps are open. */
export function openHolds({ authorizations, withdrawals }: Model): number {
  return (
    withdrawals.filter(({ status }) => status === 'open').length +
    authorizations.filter(({ status }) => status === 'authorized').length
  )
}

/** What all counters of the key must hold: a withdrawal counts under both caps. */
export function counted({ caps }: Model): number {
  return caps.spent + caps.withdrawn
}

/** Ends a withdrawal. */
export function endWithdrawal(
  model: Model,
  withdrawal: KnownWithdrawal,
  status: 'completed' | 'failed',
): void {
  withdrawal.status = status
  if (status === 'completed') return
  model.available += withdrawal.amountCents
  count(model, -withdrawal.amountCents, true)
}

/** Notes what the operator must book after a report of a withdrawal that has ended, or ends with it. */
export function noteReport(
  known: KnownWithdrawal,
  status: 'completed' | 'failed',
  paidCents: number | null,
): void {
  const expected = known.amountCents - FEE_CENTS
  const reported = paidCents ?? expected
  const left = known.status === 'completed' ? expected : 0
  if (status === 'completed') known.paidExcessCents = Math.max(known.paidExcessCents, reported - left)
  else if (known.status === 'completed') known.returnedCents = Math.max(known.returnedCents, reported)
}

/** What withdrawals and bills must have earned the house. */
export function houseMoney(models: readonly Model[]): { readonly fees: number; readonly bills: number } {
  const completed = models.flatMap(({ withdrawals }) =>
    withdrawals.filter(({ status }) => status === 'completed'),
  )
  const paid = models.flatMap(({ bills }) => bills.filter(bill => bill.paid))
  return { fees: completed.length * FEE_CENTS, bills: sum(paid.map(({ amountCents }) => amountCents)) }
}

/** What the operator must book: reports in excess, and those for what has ended. */
export function excess(models: readonly Model[]): {
  readonly withdrawals: number
  readonly authorizations: number
} {
  const withdrawals = models.flatMap(model => model.withdrawals)
  const authorizations = models.flatMap(model => model.authorizations)
  return {
    withdrawals: sum(withdrawals.map(each => each.paidExcessCents + each.returnedCents)),
    authorizations: sum(authorizations.map(({ excessCents }) => excessCents)),
  }
}

/** The sum of what is put aside. */
export function putAside({ contracts }: Model): number {
  return sum([...contracts.values()])
}
