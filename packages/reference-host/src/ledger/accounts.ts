/**
 * An account that holds what a user can spend. Each debit must be covered by a hold, or name why no policy applies (`Cover` in
 * `ledger.ts`).
 */
type UserAccount = `user:${string}`
/**
 * Money of a user that is held for a payment or a withdrawal, or that the user has moved to a contract. Its debits must be
 * covered, too.
 */
type ReservedAccount = `held:${string}:${'cards' | 'withdrawals'}` | `contract:${string}`
/** Any account with money of a user. */
export type OwnedAccount = UserAccount | ReservedAccount
/** An account of the operator (`house:`), or a counter-account for money from outside (`outside:`). */
export type SystemAccount = `house:${string}` | `outside:${string}`

/**
 * Names of ledger accounts. Outside accounts may go below zero: their balance is the money that left through them minus the
 * money that came in. No other account may.
 */
export const ledgerAccounts = {
  /** A user's balance, which the operator owes the user. */
  user: (accountId: string): UserAccount => `user:${accountId}`,
  /** Money that is held for merchants, or for open withdrawals. */
  held: (accountId: string, purpose: 'cards' | 'withdrawals'): ReservedAccount =>
    `held:${accountId}:${purpose}`,
  /** Money that a user has moved to a contract. */
  contract: (accountId: string, contractId: string): ReservedAccount => `contract:${accountId}:${contractId}`,
  /** Payments for plans and subscriptions. */
  revenue: 'house:revenue',
  /** Fees of withdrawals. */
  fees: 'house:fees',
  /** Money that users have paid for bills, until the operator pays the biller. */
  bills: 'house:bills',
  /** The source of the sandbox's play money. */
  sandbox: 'outside:sandbox',
  /** The source of credits by operators. */
  operator: 'outside:operator',
  /** Payments of one token on one chain. */
  chain: (chainId: number, token: string): SystemAccount => `outside:chain:${chainId}:${token}`,
  /** Payments to merchants through a card issuer. */
  cards: (issuer: string): SystemAccount => `outside:cards:${issuer}`,
  /** Payments through a deposit provider. */
  deposits: (provider: string): SystemAccount => `outside:deposits:${provider}`,
  /** Payments through a withdrawal provider. */
  withdrawals: (provider: string): SystemAccount => `outside:withdrawals:${provider}`,
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
