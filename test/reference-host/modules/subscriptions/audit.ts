import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger, type SqlDialect } from '@gatewright/kernel/internal/sql'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'

const HISTORY =
  'select count(*) from gw_payin_moves m where m.account_id = p.account_id and m.payin_id = p.id'
const TRANSFER = `select count(*) from gw_ledger_legs l
  where l.account_id = p.account_id and l.transfer_id = 'payin:' || p.id and l.side = 'debit'`

/** What must never be found, each with the statement that counts it. */
const WRONG: Readonly<Record<string, string>> = {
  'settled pay-ins that moved no money, or others that did': `select count(*) as n from gw_payins p
    where case when p.status = 'settled' then 1 else 0 end <> (${TRANSFER})`,
  'pay-ins that moved another amount, or between other accounts': `select count(*) as n from gw_payins p
    join gw_ledger_legs l on l.transfer_id = 'payin:' || p.id and l.side = 'debit'
    where l.amount_cents <> -p.amount_cents or l.account_id <> p.account_id
      or l.counterpart <> case when p.plan_id is null then 'user:' || p.account_id else 'house:revenue' end
      or l.ledger_account <> case when p.method = 'balance' then 'user:' || p.account_id
        else 'outside:chain:' || p.chain_id || ':' || p.token end`,
  'transfers of a pay-in that is not there': `select count(*) as n from gw_ledger_legs l
    where l.transfer_id like 'payin:%' and not exists (select 1 from gw_payins p where l.transfer_id = 'payin:' || p.id)`,
  'histories that do not end in the status, or have gaps': `select count(*) as n from gw_payins p
    where p.moves <> (${HISTORY})
      or 1 <> (${HISTORY} and m.number = 1 and m.cause = 'created' and m.from_status is null)
      or 1 <> (${HISTORY} and m.number = p.moves and m.to_status = p.status)
      or exists (select 1 from gw_payin_moves m join gw_payin_moves b
        on b.payin_id = m.payin_id and b.number = m.number - 1 and b.to_status <> m.from_status
        where m.payin_id = p.id)`,
  'subscriptions without a pay-in, or with other periods than were paid': `select count(*) as n
    from gw_subscriptions s
    where not exists (select 1 from gw_payins p where p.subscription_id = s.id)
      or s.paid_months <> case s.plan_interval when 'year' then 12 else 1 end *
        (select count(*) from gw_payins p where p.subscription_id = s.id and p.status = 'settled')`,
  'holds without an open pay-in, or open pay-ins without their hold': `select
    abs((select count(*) from gw_spend_holds) - (select count(*) from gw_payins p
      where p.hold like '%"held":true%' and p.status in ('awaiting_payment', 'confirming'))) as n`,
  'deposit addresses that do not belong to their one pay-in': `select
    (select count(*) from gw_payins p where p.own_receiver = 1 and 1 <> (select count(*)
      from gw_deposit_addresses a where a.payin_id = p.id and a.address = p.pay_to and a.chain_id = p.chain_id))
    + (select count(*) from gw_deposit_addresses a where a.payin_id is not null
      and not exists (select 1 from gw_payins p where p.id = a.payin_id and p.own_receiver = 1)) as n`,
  'open pay-ins that watchers and expiry do not find as they are, or others that they do': `select
    (select count(*) from gw_payins p where p.status in ('awaiting_payment', 'confirming') and not exists (
      select 1 from gw_open_payins o where o.payin_id = p.id and o.account_id = p.account_id and o.due_at = p.due_at
        and coalesce(o.submitted_tx, '') = coalesce(p.submitted_tx, '')
        and o.has_transfer = case when p.transfer_tx is null then 0 else 1 end
        and coalesce(o.pay_to, '') = coalesce(p.pay_to, '') and coalesce(o.payer, '') = coalesce(p.payer, '')))
    + (select count(*) from gw_open_payins o where not exists (select 1 from gw_payins p
      where p.id = o.payin_id and p.status in ('awaiting_payment', 'confirming'))) as n`,
  'transfers that are stored otherwise than their pay-in says': `select
    (select count(*) from gw_payins p where p.transfer_tx is not null and not exists (
      select 1 from gw_payin_transfers t where t.chain_id = p.chain_id and t.tx_hash = p.transfer_tx
        and t.log_index = p.transfer_log and t.payin_id = p.id and t.account_id = p.account_id
        and t.block_hash = p.transfer_block_hash and t.settled = case when p.status = 'settled' then 1 else 0 end))
    + (select count(*) from gw_payin_transfers t where not exists (select 1 from gw_payins p
      where p.id = t.payin_id and p.transfer_tx = t.tx_hash and p.transfer_log = t.log_index)) as n`,
}

/**
 * Looks through everything about money in a host's database, and says what is wrong. Whatever has been killed, and
 * whenever, it must find nothing. Subscriptions are taken to have been renewed without gaps.
 */
export async function auditMoney(db: SqlClient, dialect: SqlDialect): Promise<readonly string[]> {
  const { sumCents, wrongAccounts, wrongTransfers } = await createLedger(db).check()
  const found = sumCents === 0 ? [] : [`the ledger adds up to ${sumCents}`]
  found.push(...wrongAccounts.map(account => `ledger account ${account} is wrong`))
  found.push(...wrongTransfers.map(id => `the legs of transfer ${id} do not add up to 0`))
  // One transaction each would see different moments; a host may be running.
  await db.transaction(async tx => {
    if (dialect === 'postgres') await rows(tx, 'set transaction isolation level repeatable read')
    for (const [what, text] of Object.entries(WRONG)) {
      const [row] = await rows(tx, text)
      const count = toInteger(row?.['n'])
      if (count > 0) found.push(`${count} ${what}`)
    }
  })
  return found
}
