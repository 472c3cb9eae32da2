-- version 1
create table {prefix}ledger_accounts (
  id text primary key,
  may_overdraw integer not null check (may_overdraw in (0, 1)),
  balance_cents integer not null default 0,
  check (may_overdraw = 1 or balance_cents >= 0)
);

create table {prefix}ledger_transfers (
  id text primary key,
  debit_account text not null references {prefix}ledger_accounts (id),
  credit_account text not null references {prefix}ledger_accounts (id),
  amount_cents integer not null check (amount_cents > 0),
  cause text not null,
  created_at integer not null,
  check (debit_account <> credit_account)
);

-- Amounts that are not added to the balances of accounts yet.
create table {prefix}ledger_tail (
  account_id text not null,
  transfer_id text not null,
  amount_cents integer not null,
  primary key (account_id, transfer_id)
) without rowid;

-- Enforced in the database: both legs of a transfer are written only here.
create trigger {prefix}ledger_append after insert on {prefix}ledger_transfers
begin
  insert into {prefix}ledger_tail (account_id, transfer_id, amount_cents) values
    (new.debit_account, new.id, -new.amount_cents), (new.credit_account, new.id, new.amount_cents);
  select raise(abort, 'a ledger account would be overdrawn') from {prefix}ledger_accounts a
    where a.id = new.debit_account and a.may_overdraw = 0 and a.balance_cents
      + (select sum(t.amount_cents) from {prefix}ledger_tail t where t.account_id = a.id) < 0;
end;

create trigger {prefix}ledger_keep_rows before delete on {prefix}ledger_transfers
begin
  select raise(abort, 'ledger transfers are append-only');
end;

create trigger {prefix}ledger_keep_values before update on {prefix}ledger_transfers
begin
  select raise(abort, 'ledger transfers are append-only');
end;

-- version 2
-- What each account sees of its money: one row per account and business object.
create table {prefix}transactions (
  position integer primary key autoincrement,
  id text not null unique,
  account_id text not null,
  source_kind text not null,
  source_id text not null,
  part text not null,
  type text not null check (type in ('spend', 'collateral', 'payment', 'fee')),
  status text not null check (status in ('pending', 'completed', 'declined', 'reversed', 'failed')),
  amount_cents integer not null check (amount_cents >= 0),
  direction text not null check (direction in ('debit', 'credit')),
  description text not null,
  card_id text,
  merchant text,
  counterparty text,
  memo text,
  created_at integer not null,
  updated_at integer not null,
  check (card_id is null or type = 'spend'),
  unique (source_kind, source_id, part)
);

create index {prefix}transactions_account on {prefix}transactions (account_id, position);

create index {prefix}transactions_type on {prefix}transactions (account_id, type, position);

create index {prefix}transactions_card on {prefix}transactions (account_id, card_id, position)
  where card_id is not null;

create index {prefix}transactions_payments on {prefix}transactions (account_id, position)
  where source_kind = 'payment';

-- Rows for the transfers made before: credits of balances, and pay-ins paid from them.
insert into {prefix}transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents,
    direction, description, created_at, updated_at)
  select 'txn_' || lower(hex(randomblob(16))), substr(credit_account, 6), cause, substr(id, length(cause) + 2), '',
    case when cause = 'payin' then 'payment' else 'collateral' end, 'completed', amount_cents,
    'credit', 'Credit', created_at, created_at
  from {prefix}ledger_transfers where substr(credit_account, 1, 5) = 'user:' order by created_at, id;

insert into {prefix}transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents,
    direction, description, created_at, updated_at)
  select 'txn_' || lower(hex(randomblob(16))), substr(debit_account, 6), cause, substr(id, length(cause) + 2), '',
    'payment', 'completed', amount_cents, 'debit', 'Payment', created_at, created_at
  from {prefix}ledger_transfers where substr(debit_account, 1, 5) = 'user:' order by created_at, id;
