import {
  type Row,
  instant,
  integer,
  named,
  nullable,
  oneOf,
  position,
  table,
  text,
} from '@gatewright/host/tables'
import { objectsOfAnyAccount } from '../../product/provider-objects.ts'
import type { DepositStatus } from '../../providers/deposits/port.ts'

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
/** Deposits by the id alone. */
export const anyDeposit = objectsOfAnyAccount('deposit', depositTable)
export type Deposit = Row<typeof depositTable>
