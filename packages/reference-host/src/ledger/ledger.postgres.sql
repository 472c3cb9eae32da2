-- version 1
create table {prefix}ledger_accounts (
  id text collate "C" primary key,
  may_overdraw smallint not null check (may_overdraw in (0, 1)),
  balance_cents bigint not null default 0,
  check (may_overdraw = 1 or balance_cents >= 0)
);

create table {prefix}ledger_transfers (
  id text collate "C" primary key,
  debit_account text collate "C" not null references {prefix}ledger_accounts (id),
  credit_account text collate "C" not null references {prefix}ledger_accounts (id),
  amount_cents bigint not null check (amount_cents > 0),
  cause text not null,
  created_at bigint not null,
  check (debit_account <> credit_account)
);

-- Amounts that are not added to the balances of accounts yet.
create table {prefix}ledger_tail (
  account_id text collate "C" not null,
  transfer_id text collate "C" not null,
  amount_cents bigint not null,
  primary key (account_id, transfer_id)
);

-- Enforced in the database: both legs of a transfer are written only here, and an account that may not be overdrawn
-- is locked before its balance is read, so that two debits cannot use the same money.
create function {prefix}ledger_append() returns trigger language plpgsql as $$
begin
  insert into {prefix}ledger_tail (account_id, transfer_id, amount_cents) values
    (new.debit_account, new.id, -new.amount_cents), (new.credit_account, new.id, new.amount_cents);
  perform 1 from {prefix}ledger_accounts where id = new.debit_account and may_overdraw = 0 for no key update;
  if found and (select a.balance_cents + (select sum(t.amount_cents) from {prefix}ledger_tail t where t.account_id = a.id)
      from {prefix}ledger_accounts a where a.id = new.debit_account) < 0 then
    raise exception 'ledger account % would be overdrawn', new.debit_account;
  end if;
  return null;
end $$;

create trigger {prefix}ledger_append after insert on {prefix}ledger_transfers
  for each row execute function {prefix}ledger_append();

create function {prefix}ledger_keep() returns trigger language plpgsql as $$
begin
  raise exception 'ledger transfers are append-only';
end $$;

create trigger {prefix}ledger_keep before update or delete or truncate on {prefix}ledger_transfers
  for each statement execute function {prefix}ledger_keep();

-- version 2
-- What each account sees of its money: one row per account and business object.
create table {prefix}transactions (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  source_kind text collate "C" not null,
  source_id text collate "C" not null,
  part text collate "C" not null,
  type text not null check (type in ('spend', 'collateral', 'payment', 'fee')),
  status text not null check (status in ('pending', 'completed', 'declined', 'reversed', 'failed')),
  amount_cents bigint not null check (amount_cents >= 0),
  direction text not null check (direction in ('debit', 'credit')),
  description text not null,
  card_id text collate "C",
  merchant text,
  counterparty text,
  memo text,
  created_at bigint not null,
  updated_at bigint not null,
  check (card_id is null or type = 'spend'),
  unique (source_kind, source_id, part),
  primary key (account_id, position)
);

create index {prefix}transactions_type on {prefix}transactions (account_id, type, position);

create index {prefix}transactions_card on {prefix}transactions (account_id, card_id, position)
  where card_id is not null;

create index {prefix}transactions_payments on {prefix}transactions (account_id, position)
  where source_kind = 'payment';

-- Rows for the transfers made before: credits of balances, and pay-ins paid from them.
insert into {prefix}transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents,
    direction, description, created_at, updated_at)
  select 'txn_' || replace(gen_random_uuid()::text, '-', ''), substr(credit_account, 6), cause, substr(id, length(cause) + 2), '',
    case when cause = 'payin' then 'payment' else 'collateral' end, 'completed', amount_cents,
    'credit', 'Credit', created_at, created_at
  from {prefix}ledger_transfers where substr(credit_account, 1, 5) = 'user:' order by created_at, id;

insert into {prefix}transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents,
    direction, description, created_at, updated_at)
  select 'txn_' || replace(gen_random_uuid()::text, '-', ''), substr(debit_account, 6), cause, substr(id, length(cause) + 2), '',
    'payment', 'completed', amount_cents, 'debit', 'Payment', created_at, created_at
  from {prefix}ledger_transfers where substr(debit_account, 1, 5) = 'user:' order by created_at, id;
