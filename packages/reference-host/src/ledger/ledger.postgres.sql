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
