import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { type PageOf, type Row, instant, nullable, position, table, text } from '@gatewright/host/tables'

/** The contracts of all accounts: pots for money that cards and payments cannot use. The money itself is in the ledger. */
export const contracts = table('gw_contracts', {
  id: text,
  position,
  accountId: text,
  label: nullable(text),
  createdAt: instant,
})
export type Contract = Row<typeof contracts>

const PAGE = `select c.*, coalesce((select a.balance_cents
      + (select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
        where t.account_id = $1 and t.ledger_account = a.id)
    from gw_ledger_accounts a where a.account_id = $1 and a.id = 'contract:' || c.account_id || ':' || c.id), 0) as balance
  from gw_contracts c where c.account_id = $1 and c.position < $2 order by c.position desc limit $3`

/** Reads a page of an account's contracts with their balances, newest first. */
export async function contractsWithBalances(
  db: SqlQueries,
  accountId: string,
  { after, limit }: PageOf,
): Promise<readonly (Contract & { readonly balanceCents: number })[]> {
  const found = await rows(db, PAGE, [accountId, after === 0 ? Number.MAX_SAFE_INTEGER : after, limit])
  return found.map(row => ({ ...contracts.read(row), balanceCents: toInteger(row['balance']) }))
}
