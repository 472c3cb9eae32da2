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
