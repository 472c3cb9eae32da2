/** An account that holds a user's money. Each debit must be covered: see `Cover` in `ledger.ts`. */
export type UserAccount = `user:${string}`
/** An account of the operator (`house:`), or a counter-account for money from outside (`outside:`). */
export type SystemAccount = `house:${string}` | `outside:${string}`

/**
 * Names of ledger accounts. Outside accounts may go below zero: their balance is the negated sum of what came
 * in through them. User and house accounts never go below zero.
 */
export const ledgerAccounts = {
  /** A user's balance: what the product owes the user. */
  user: (accountId: string): UserAccount => `user:${accountId}`,
  /** Payments for plans and subscriptions. */
  revenue: 'house:revenue',
  /** Play money of the sandbox. */
  sandbox: 'outside:sandbox',
  /** Credits by operators. */
  operator: 'outside:operator',
  /** Payments of one token on one chain. */
  chain: (chainId: number, token: string): SystemAccount => `outside:chain:${chainId}:${token}`,
} as const

/** Whether debits of an account must be covered: true for user accounts. */
export function holdsUserMoney(account: string): boolean {
  return !account.startsWith('house:') && !account.startsWith('outside:')
}

/** Whether an account may go below zero. */
export function mayOverdraw(account: string): boolean {
  return account.startsWith('outside:')
}
