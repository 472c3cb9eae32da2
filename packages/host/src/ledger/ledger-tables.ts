/** The DDL of the tables of the ledger, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
create table {prefix}ledger_accounts (
  id {id} primary key,
  may_overdraw smallint not null check (may_overdraw in (0, 1)),
  balance_cents bigint not null default 0,
  check (may_overdraw = 1 or balance_cents >= 0)
);

create table {prefix}ledger_transfers (
  id {id} primary key,
  debit_account {id} not null references {prefix}ledger_accounts (id),
  credit_account {id} not null references {prefix}ledger_accounts (id),
  amount_cents bigint not null check (amount_cents > 0),
  cause text not null,
  created_at bigint not null,
  check (debit_account <> credit_account)
);

-- postgres only
-- The transaction that inserted a transfer, for checks of what was added since the last one.
alter table {prefix}ledger_transfers add column xid xid8 not null default pg_current_xact_id();

create index {prefix}ledger_transfers_xid on {prefix}ledger_transfers (xid);

-- Up to where the last check has found everything right: the number of transfers before the position, and each account's sum of them.
create table {prefix}ledger_position (
  only_row boolean primary key default true check (only_row),
  cluster text not null,
  position xid8 not null,
  transfers bigint not null
);

insert into {prefix}ledger_position (cluster, position, transfers) values ('', '0', 0);

create table {prefix}ledger_checked (
  account_id {id} primary key,
  balance_cents bigint not null
);
-- both

-- Amounts that are not added to the balances of accounts yet.
create table {prefix}ledger_tail (
  account_id {id} not null,
  transfer_id {id} not null,
  amount_cents bigint not null,
  primary key (account_id, transfer_id)
) {without rowid};

-- postgres only
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
-- both

-- sqlite only
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
-- both

-- What each account sees of its money: one row per account and business object.
create table {prefix}transactions (
  position {position},
  id {id} not null unique,
  account_id {id} not null,
  source_kind {id} not null,
  source_id {id} not null,
  part {id} not null,
  type text not null check (type in ('spend', 'collateral', 'payment', 'fee')),
  status text not null check (status in ('pending', 'completed', 'declined', 'reversed', 'failed')),
  amount_cents bigint not null check (amount_cents >= 0),
  direction text not null check (direction in ('debit', 'credit')),
  description text not null,
  card_id {id},
  merchant text,
  counterparty text,
  memo text,
  created_at bigint not null,
  updated_at bigint not null,
  check (card_id is null or type = 'spend'),
  unique (source_kind, source_id, part),
  {primary key} (account_id, position)
);

create index {prefix}transactions_type on {prefix}transactions (account_id, type, position);

create index {prefix}transactions_card on {prefix}transactions (account_id, card_id, position)
  where card_id is not null;

create index {prefix}transactions_payments on {prefix}transactions (account_id, position)
  where source_kind = 'payment';
`
