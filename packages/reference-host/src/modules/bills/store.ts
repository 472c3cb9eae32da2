import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { ownedRows, type OwnedRows } from '../../records/owned-rows.ts'

/** What an account notes that it owes to somebody outside. */
export interface Bill {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly payee: string
  readonly amountCents: number
  readonly reference: string | null
  readonly dueAt: EpochMs
  readonly paidAt: EpochMs | null
  readonly createdAt: EpochMs
}

/** The bills of all accounts. */
export interface BillStore extends Pick<OwnedRows<Bill>, 'find' | 'lock' | 'page'> {
  insert(tx: SqlQueries, bill: Omit<Bill, 'position' | 'paidAt'>): Promise<Bill>
  countOpen(tx: SqlQueries, accountId: string): Promise<number>
  /** Marks a locked bill as paid. */
  markPaid(tx: SqlQueries, bill: Bill, now: EpochMs): Promise<Bill>
}

/** Makes the bill store of a SQL database. */
export function billStore(dialect: SqlDialect): BillStore {
  const { insert, find, lock, page } = ownedRows(dialect, 'gw_bills', toBill)
  return {
    find,
    lock,
    page,
    async insert(tx, { id, accountId, payee, amountCents, reference, dueAt, createdAt }) {
      const columns = {
        id,
        account_id: accountId,
        payee,
        amount_cents: amountCents,
        reference,
        due_at: dueAt,
        created_at: createdAt,
      }
      return (await insert(tx, columns)) as Bill
    },
    async countOpen(tx, accountId) {
      const text = 'select count(*) as n from gw_bills where account_id = $1 and paid_at is null'
      return toInteger((await rows(tx, text, [accountId]))[0]?.['n'])
    },
    async markPaid(tx, bill, now) {
      const text = 'update gw_bills set paid_at = $1 where id = $2 and account_id = $3'
      await rows(tx, text, [now, bill.id, bill.accountId])
      return { ...bill, paidAt: now }
    },
  }
}

function toBill(row: SqlRow): Bill {
  const [reference, paidAt] = [row['reference'], row['paid_at']]
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    payee: toText(row['payee']),
    amountCents: toInteger(row['amount_cents']),
    reference: reference === null ? null : toText(reference),
    dueAt: toInteger(row['due_at']),
    paidAt: paidAt === null ? null : toInteger(paidAt),
    createdAt: toInteger(row['created_at']),
  }
}
