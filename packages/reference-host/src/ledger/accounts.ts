/**
 * Names of ledger accounts. What is outside may go below zero: its balance is what has come in through it, negated.
 * Users and the house never do.
 */
export const ledgerAccounts = {
  /** What the product owes a user: its balance. */
  user: (accountId: string): string => `user:${accountId}`,
  /** What users have paid for. */
  revenue: 'house:revenue',
  /** Play money of the sandbox. */
  sandbox: 'outside:sandbox',
  /** What operators credited by hand. */
  operator: 'outside:operator',
  /** One token of one chain. */
  chain: (chainId: number, token: string): string => `outside:chain:${chainId}:${token}`,
} as const

/** Whether an account may go below zero. */
export function mayOverdraw(account: string): boolean {
  return account.startsWith('outside:')
}
