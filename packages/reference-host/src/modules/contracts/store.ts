import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { ownedRows } from '../../records/owned-rows.ts'

/** Money that an account has put aside, out of reach of cards and payments. */
export interface Contract {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly label: string | null
  readonly createdAt: EpochMs
}

/** The contracts of all accounts. Their money is in the ledger. */
export interface ContractStore {
  /** Adds a contract; one that exists is returned as it is. */
  insert(tx: SqlQueries, contract: Omit<Contract, 'position'>): Promise<Contract>
  find(db: SqlQueries, accountId: string, id: string): Promise<Contract | undefined>
  count(tx: SqlQueries, accountId: string): Promise<number>
  /** A page of an account's contracts with their balances, newest first, before `position` (0: from the newest). */
  page(
    db: SqlQueries,
    accountId: string,
    position: number,
    limit: number,
  ): Promise<readonly (Contract & { readonly balanceCents: number })[]>
}

const PAGE = `select c.*, coalesce((select a.balance_cents
      + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t where t.account_id = a.id)
    from gw_ledger_accounts a where a.id = 'contract:' || c.account_id || ':' || c.id), 0) as balance
  from gw_contracts c where c.account_id = $1 and c.position < $2 order by c.position desc limit $3`

/** Makes the contract store of a SQL database. */
export function contractStore(dialect: SqlDialect): ContractStore {
  const contracts = ownedRows(dialect, 'gw_contracts', toContract)
  return {
    async insert(tx, { id, accountId, label, createdAt }) {
      const columns = { id, account_id: accountId, label, created_at: createdAt }
      return ((await contracts.insert(tx, columns)) ?? (await contracts.find(tx, accountId, id))) as Contract
    },
    find: contracts.find,
    async count(tx, accountId) {
      const [row] = await rows(tx, 'select count(*) as n from gw_contracts where account_id = $1', [
        accountId,
      ])
      return toInteger(row?.['n'])
    },
    async page(db, accountId, position, limit) {
      const before = position === 0 ? Number.MAX_SAFE_INTEGER : position
      const found = await rows(db, PAGE, [accountId, before, limit])
      return found.map(row => ({ ...toContract(row), balanceCents: toInteger(row['balance']) }))
    },
  }
}

function toContract(row: SqlRow): Contract {
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    label: row['label'] === null ? null : toText(row['label']),
    createdAt: toInteger(row['created_at']),
  }
}
