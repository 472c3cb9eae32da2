import type { SystemAccount } from '@gatewright/host/internal'

/** Names of the ledger accounts of the operator, and of the counter-accounts for money from outside. */
export const systemAccounts = {
  /** Payments for plans and subscriptions. */
  revenue: 'house:revenue',
  /** Fees of withdrawals. */
  fees: 'house:fees',
  /** Money that users paid for bills, until the operator pays the biller. */
  bills: 'house:bills',
  /** Play money of the sandbox. */
  sandbox: 'outside:sandbox',
  /** Credits by operators. */
  operator: 'outside:operator',
  /** Payments of one token on one chain. */
  chain: (chainId: number, token: string): SystemAccount => `outside:chain:${chainId}:${token}`,
  /** What merchants received through a card issuer. */
  cards: (issuer: string): SystemAccount => `outside:cards:${issuer}`,
  /** What came in through a deposit provider. */
  deposits: (provider: string): SystemAccount => `outside:deposits:${provider}`,
  /** What left through a withdrawal provider. */
  withdrawals: (provider: string): SystemAccount => `outside:withdrawals:${provider}`,
} as const satisfies Readonly<Record<string, SystemAccount | ((...names: never[]) => SystemAccount)>>
