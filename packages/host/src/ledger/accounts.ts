/**
 * An account that holds what a user can spend. Each debit must be covered by a hold, or name why no policy applies (`Cover` in
 * `ledger.ts`).
 */
type UserAccount = `user:${string}`
/** Money of a user that is promised to others, or that the user has put aside. Its debits must be covered too. */
type ReservedAccount = `held:${string}:${string}` | `contract:${string}`
/** Any account with money of a user. */
export type OwnedAccount = UserAccount | ReservedAccount
/** An account of the operator (`house:`), or a counter-account for money from outside (`outside:`). */
export type SystemAccount = `house:${string}` | `outside:${string}`

/**
 * Names of the ledger accounts of users. No such account goes below zero. Outside accounts may: their balance is what left through
 * them minus what came in.
 */
export const ledgerAccounts = {
  /** A user's balance, which the operator owes the user. */
  user: (accountId: string): UserAccount => `user:${accountId}`,
  /** What is promised to others. The purpose says whose rows tell what is promised. */
  held: (accountId: string, purpose: string): ReservedAccount => `held:${accountId}:${purpose}`,
  /** What a user has put aside in a contract. */
  contract: (accountId: string, contractId: string): ReservedAccount => `contract:${accountId}:${contractId}`,
} as const

/** Whether an account holds money of a user. Its debits must then be covered. */
export function holdsUserMoney(account: string): account is OwnedAccount {
  return !account.startsWith('house:') && !account.startsWith('outside:')
}

/** The account id of the user whose money a ledger account holds; undefined for house and outside accounts. */
export function ownerOf(account: string): string | undefined {
  return holdsUserMoney(account) ? account.split(':')[1] : undefined
}

/** Whether an account may go below zero. */
export function mayOverdraw(account: string): boolean {
  return account.startsWith('outside:')
}
