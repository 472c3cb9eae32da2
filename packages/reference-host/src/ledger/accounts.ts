/** An account that holds a user's money. Taking money out of it needs a cover: see `Transfer`. */
export type UserAccount = `user:${string}`
/** An account of the house, or what stands for the world outside. */
export type SystemAccount = `house:${string}` | `outside:${string}`

/**
 * Names of ledger accounts. What is outside may go below zero: its balance is what has come in through it, negated.
 * Users and the house never do.
 */
export const ledgerAccounts = {
  /** What the product owes a user: its balance. */
  user: (accountId: string): UserAccount => `user:${accountId}`,
  /** What users have paid for. */
  revenue: 'house:revenue',
  /** Play money of the sandbox. */
  sandbox: 'outside:sandbox',
  /** What operators credited by hand. */
  operator: 'outside:operator',
  /** One token of one chain. */
  chain: (chainId: number, token: string): SystemAccount => `outside:chain:${chainId}:${token}`,
} as const

/** Whether debits of an account need a cover: every account that is neither the house's nor outside. */
export function holdsUserMoney(account: string): boolean {
  return !account.startsWith('house:') && !account.startsWith('outside:')
}

/** Whether an account may go below zero. */
export function mayOverdraw(account: string): boolean {
  return account.startsWith('outside:')
}
