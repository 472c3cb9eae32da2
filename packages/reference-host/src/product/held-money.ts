import type { checkLedger } from '@gatewright/host/internal'

/** What this product promises to others out of a user's balance. */
export const heldMoney: Parameters<typeof checkLedger>[1] = [
  {
    purpose: 'cards',
    name: 'open card authorizations',
    rows: 'select account_id, held_cents as amount_cents from gw_authorizations where held_cents > 0',
  },
  {
    purpose: 'withdrawals',
    name: 'open withdrawals',
    rows: "select account_id, amount_cents from gw_withdrawals where status in ('pending', 'ready')",
  },
]
