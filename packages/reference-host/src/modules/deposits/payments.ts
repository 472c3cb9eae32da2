import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { Money, TransactionEntry } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '../../product/system-accounts.ts'
import type { Deposit } from './deposit.ts'
import type { ReportedPayment } from './payment-conflict.ts'

/** One credited payment to a deposit: its transaction row. */
interface DepositPayment {
  readonly id: string
  readonly creditedCents: number
  readonly at: EpochMs
}

/** How many of a deposit's latest payments a response shows, because their number is not bounded. */
export const MAX_PAYMENTS = 20

/** The payments to a deposit. */
export interface DepositPaymentSummary {
  /** The sum of all payments. */
  readonly creditedCents: number
  /** The last `MAX_PAYMENTS`, oldest first. */
  readonly last: readonly DepositPayment[]
}

const CREDITED = `select amount_cents from gw_transactions
  where account_id = $1 and source_kind = 'deposit' and source_id = $2 and part = $3`

/** Returns the payments to each deposit that has any, by deposit id. */
export async function readPayments(
  db: SqlQueries,
  deposits: readonly Deposit[],
): Promise<ReadonlyMap<string, DepositPaymentSummary>> {
  const found = new Map<string, { creditedCents: number; last: DepositPayment[] }>()
  if (deposits.length === 0) return found
  const values: SqlValue[] = [MAX_PAYMENTS]
  const places = (each: readonly string[]): string => each.map(value => `$${values.push(value)}`).join(', ')
  const accounts = places([...new Set(deposits.map(({ accountId }) => accountId))])
  const ids = places(deposits.map(({ id }) => id))
  const text = `select source_id, part, amount_cents, created_at, credited from (
      select source_id, part, amount_cents, created_at, position,
        cast(sum(amount_cents) over (partition by source_id) as bigint) as credited,
        row_number() over (partition by source_id order by position desc) as place
      from gw_transactions
        where account_id in (${accounts}) and source_kind = 'deposit' and source_id in (${ids})) numbered
    where place <= $1 order by position`
  for (const row of await rows(db, text, values)) {
    const id = toText(row['source_id'])
    const paid = found.get(id) ?? { creditedCents: toInteger(row['credited']), last: [] }
    found.set(id, paid)
    const creditedCents = toInteger(row['amount_cents'])
    paid.last.push({ id: toText(row['part']), creditedCents, at: toInteger(row['created_at']) })
  }
  return found
}

/**
 * Credits the account with a payment that the provider reported. `repeated`: this payment to this deposit was credited before.
 * `conflict`: another payment has its id.
 */
export async function creditPayment(
  tx: SqlQueries,
  { id, accountId, provider }: Deposit,
  payment: ReportedPayment,
  { money, now }: { readonly money: Money; readonly now: EpochMs },
): Promise<'done' | 'repeated' | 'conflict'> {
  const amountCents = payment.creditedCents
  const transfer = {
    id: `deposit:${provider}:${payment.id}`,
    isExternal: true,
    amountCents,
    cause: 'deposit',
    debit: systemAccounts.deposits(provider),
    credit: ledgerAccounts.user(accountId),
  }
  const source = { kind: 'deposit', id, part: payment.id }
  const entry: TransactionEntry = {
    accountId,
    source,
    type: 'collateral',
    status: 'completed',
    amountCents,
    direction: 'credit',
    description: 'Deposit',
  }
  if ((await money.move(tx, transfer, [entry], now)) === 'done') return 'done'
  // The ledger cannot distinguish equal payments to two deposits of one account, so the transaction rows are compared.
  const [credited] = await rows(tx, CREDITED, [accountId, id, payment.id])
  return credited && toInteger(credited['amount_cents']) === amountCents ? 'repeated' : 'conflict'
}
