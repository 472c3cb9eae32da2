import pg from 'pg'
import { MANY_ROWS } from '../../../harness/turns.ts'

/** The values of the generated rows. */
export interface GeneratedRows {
  /** Has one pay-in in twenty, none of them open, 5000 subscriptions, and transfers that are not folded into its balance. */
  readonly accountId: string
  readonly chainId: number
  readonly token: string
  readonly receiver: string
}

/**
 * Fills a migrated schema with `MANY_ROWS` pay-ins, moves and transfers of 5000 accounts: 10 000 pay-ins are open on a chain,
 * most of them for the same price at the same address, as a popular plan makes them. Resolves to the creation of the newest pay-in, in ms; each is 1 ms after the one before.
 */
export async function fillTables(url: string, generated: GeneratedRows): Promise<number> {
  const { accountId, chainId, token, receiver } = generated
  const now = Date.now()
  const rows = MANY_ROWS
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const id = "'payin_' || lpad(n::text, 32, '0')"
  // None of the open ones is the account's: it makes further ones, and may have 100.
  const account = `case when n % 20 = 0 and n <= ${rows - 12_000} then '${accountId}' else 'acc_' || n % 5000 end`
  const series = `from generate_series(1, ${rows}) n`
  // The last 12 000: 10 000 wait for the chain, 1000 for the balance, and 1000 of those are due.
  const open = `n > ${rows - 12_000}`
  const onChain = `n between ${rows - 11_999} and ${rows - 2_000}`
  const statements = [
    // The tables' own checks are not under test, and so many rows would take minutes with them.
    'set session_replication_role = replica',
    `insert into gw_subscriptions (id, account_id, effect_id, plan_id, amount_cents, plan_interval, created_at)
      select 'sub_' || n, ${account}, 'sub-effect-' || n, 'basic', 500, 'month', n from generate_series(1, 100000) n`,
    `insert into gw_payins (id, account_id, effect_id, subscription_id, plan_id, amount_cents, currency, method,
        status, moves, properties, hold, chain_id, asset, token, pay_to, own_receiver, units, payer, submitted_tx,
        transfer_tx, transfer_log, transfer_block, transfer_block_hash, created_at, expires_at, due_at)
      select ${id}, ${account}, 'effect-' || n, 'sub_' || n % 100000 + 1, 'basic', 500, 'USD',
        case when n % 2 = 0 then 'balance' else 'onchain' end,
        case when n between ${rows - 11_999} and ${rows - 11_450} then 'confirming' when ${open} then 'awaiting_payment'
          when n % 3 = 0 then 'expired' else 'settled' end, 1, '{}',
        '{"id":"x","accountId":"x","amountCents":500,"requested":{"amountCents":500,"currency":"USD"},"held":false}',
        case when ${onChain} or (n % 2 = 1 and not ${open}) then ${chainId} end, case when ${onChain} or (n % 2 = 1 and not ${open}) then 'USDC' end,
        case when ${onChain} or (n % 2 = 1 and not ${open}) then '${token}' end,
        case when n between ${rows - 2_999} and ${rows - 2_000} then '0xd' || lpad(to_hex(n), 39, '0')
          when ${onChain} or (n % 2 = 1 and not ${open}) then '${receiver}' end,
        case when n between ${rows - 2_999} and ${rows - 2_000} then 1 else 0 end,
        case when ${onChain} or (n % 2 = 1 and not ${open}) then '5000000' end,
        case when n between ${rows - 2_999} and ${rows - 2_000} then null else '0xa' || lpad(to_hex(n % 5000), 39, '0') end,
        case when n between ${rows - 11_949} and ${rows - 11_450} then '0xb' || lpad(to_hex(n), 63, '0') end,
        case when n between ${rows - 11_999} and ${rows - 11_950} or (not ${open} and n % 2 = 1 and n % 3 <> 0)
          then '0xc' || lpad(to_hex(n), 63, '0') end,
        case when n between ${rows - 11_999} and ${rows - 11_950} or (not ${open} and n % 2 = 1 and n % 3 <> 0) then 0 end,
        case when n between ${rows - 11_999} and ${rows - 11_950} then n when not ${open} and n % 2 = 1 and n % 3 <> 0 then 0 end,
        case when n between ${rows - 11_999} and ${rows - 11_950} or (not ${open} and n % 2 = 1 and n % 3 <> 0) then '0x' || n end,
        ${now} - ${rows} + n, due.at, due.at ${series},
        lateral (select case when n > ${rows - 1_000} then ${now} - 1 + n % 2 else ${now} + 86400000 + n end as at) due`,
    `insert into gw_payin_moves (account_id, payin_id, number, to_status, cause, at)
      select ${account}, ${id}, 1, 'awaiting_payment', 'created', n ${series}`,
    `insert into gw_open_payins (payin_id, account_id, chain_id, token, pay_to, own_receiver, units, payer, submitted_tx,
        has_transfer, created_at, due_at)
      select id, account_id, chain_id, token, pay_to, own_receiver, units, payer, submitted_tx,
        case when transfer_tx is null then 0 else 1 end, created_at, due_at
      from gw_payins where status in ('awaiting_payment', 'confirming') order by position`,
    `insert into gw_payin_transfers (chain_id, tx_hash, log_index, block_number, block_hash, account_id, payin_id, settled)
      select chain_id, transfer_tx, transfer_log, transfer_block, transfer_block_hash, account_id, id,
        case when status = 'settled' then 1 else 0 end from gw_payins where transfer_tx is not null`,
    `insert into gw_ledger_accounts (account_id, id) select 'acc_' || n, 'user:acc_' || n from generate_series(0, 4999) n
      union all select '${accountId}', 'user:${accountId}' union all select '', 'house:revenue'
      union all select '', 'outside:sandbox' union all select '', 'outside:chain:${chainId}:${token}'`,
    `insert into gw_ledger_legs (account_id, transfer_id, side, ledger_account, counterpart, amount_cents, cause, created_at)
      select account_id, transfer_id, side, case side when 'debit' then debit else credit end,
        case side when 'debit' then credit else debit end, case side when 'debit' then -500 else 500 end, 'payin', n
      from (select n, ${account} as account_id, case when n % 3 = 0 then 'deposit:' || n else 'payin:' || ${id} end as transfer_id,
        case when n % 3 = 0 then 'outside:sandbox' else 'outside:chain:${chainId}:${token}' end as debit,
        case when n % 3 = 0 then 'user:' || ${account} else 'house:revenue' end as credit ${series}) m,
        (values ('debit'), ('credit')) sides (side)`,
    `insert into gw_ledger_tail (ledger_account, account_id, transfer_id, amount_cents)
      select ledger_account, account_id, transfer_id, amount_cents from gw_ledger_legs
      where side = 'credit' and (ledger_account = 'user:${accountId}' or created_at > ${rows - 100_000})`,
    `update gw_ledger_accounts a set balance_cents = m.moved from (select ledger_account, sum(amount_cents) as moved from (
        select ledger_account, amount_cents from gw_ledger_legs
        union all select ledger_account, -amount_cents from gw_ledger_tail) l group by ledger_account) m
      where m.ledger_account = a.id`,
    `insert into gw_deposit_addresses (chain_id, address, token, account_id, payin_id)
      select ${chainId}, '0xd' || lpad(to_hex(n), 39, '0'), '${token}', ${account}, ${id} from generate_series(${rows - 21_999}, ${rows - 2_000}) n`,
    'vacuum analyze',
  ]
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
  return now
}
