import type { TenResults } from './ten-calls.ts'

/** What the ten calls of a new user return, on every runtime. */
export function tenResults(wallet: string): TenResults {
  return {
    wallet,
    balances: [10_000, 9300],
    replayed: [false, true],
    samePayment: true,
    blocked: 'maxAuthAmountCents',
    amounts: [700, 10_000],
    revoked: 'unauthorized',
  }
}
