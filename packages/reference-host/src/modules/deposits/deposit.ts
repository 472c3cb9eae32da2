import type { DepositStatus } from '../../providers/deposits/port.ts'
import { instant, integer, named, nullable, position, text, oneOf } from '../../records/columns.ts'
import { table, type Row } from '../../records/table.ts'

/** The deposits of all accounts: addresses of a provider to which an account pays. */
export const depositTable = table('gw_deposits', {
  id: text,
  position,
  accountId: text,
  provider: text,
  reference: named('provider_reference', text),
  currency: text,
  network: text,
  amount: nullable(text),
  minAmount: text,
  maxAmount: nullable(text),
  depositAddress: text,
  extraId: nullable(text),
  chainId: nullable(integer),
  status: oneOf<DepositStatus>(),
  createdAt: instant,
  updatedAt: instant,
})
export type Deposit = Row<typeof depositTable>
