/** The DDL of the tables of the ledger, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
-- The balances of ledger accounts. House and outside accounts belong to no account: their account_id is ''.
create table {prefix}ledger_accounts (
  account_id {id} not null,
  id {id} not null,
  balance_cents bigint not null default 0,
  primary key (account_id, id),
  check (substr(id, 1, 8) = 'outside:' or balance_cents >= 0)
) {without rowid} {by account_id};

-- Folds know ledger accounts by name only.
create index {prefix}ledger_accounts_id on {prefix}ledger_accounts (id);

-- Transfers: a debit and a credit, each a row of the account whose money it moves. The row of a house or outside account
-- belongs to the account on the other side, so that a transfer writes only where the rows of its accounts are.
create table {prefix}ledger_legs (
  account_id {id} not null,
  transfer_id {id} not null,
  side {id} not null check (side in ('credit', 'debit')),
  ledger_account {id} not null,
  counterpart {id} not null check (counterpart <> ledger_account),
  amount_cents bigint not null check (case side when 'credit' then amount_cents > 0 else amount_cents < 0 end),
  cause text not null,
  created_at bigint not null,
  primary key (account_id, transfer_id, side)
) {by account_id};

-- Ids of transfers that come without an account, such as a provider's payment or an operator's reference, so
-- that each moves money once on the whole host. About 150 bytes per row.
create table {prefix}ledger_references (
  transfer_id {id} primary key,
  account_id {id} not null
) {without rowid} {lookup by transfer_id};

-- postgres only
-- For checks of what was added since the last one. Legs are added in the order of time and never deleted, so ranges of pages are enough.
create index {prefix}ledger_legs_at on {prefix}ledger_legs using brin (created_at) with (autosummarize = on);

-- One row, for checks of the ledger: transfers that were made before this instant were found right.
create table {prefix}ledger_position (
  only_row boolean primary key default true check (only_row),
  checked_before bigint not null
) {reference};

insert into {prefix}ledger_position (checked_before) values (0);

-- The sums of those transfers, as far as their legs are rows of the account.
create table {prefix}ledger_checked (
  account_id {id} not null,
  ledger_account {id} not null,
  balance_cents bigint not null,
  transfers bigint not null,
  primary key (account_id, ledger_account)
) {by account_id};
-- both

-- Amounts that are not added to the balances of ledger accounts yet.
create table {prefix}ledger_tail (
  ledger_account {id} not null,
  account_id {id} not null,
  transfer_id {id} not null,
  amount_cents bigint not null,
  primary key (ledger_account, account_id, transfer_id)
) {without rowid} {by account_id};

-- sqlite only
create trigger {prefix}ledger_keep_rows before delete on {prefix}ledger_legs
begin
  select raise(abort, 'ledger transfers are append-only');
end;

create trigger {prefix}ledger_keep_values before update on {prefix}ledger_legs
begin
  select raise(abort, 'ledger transfers are append-only');
end;
-- both

-- What each account sees of its money: one row per account and business object.
create table {prefix}transactions (
  position {position},
  id {id} not null,
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
  key_id {id},
  created_at bigint not null,
  updated_at bigint not null,
  check (card_id is null or type = 'spend'),
  -- The id is first, so that operators find a transaction by its id alone.
  unique (id, account_id),
  unique (account_id, source_kind, source_id, part),
  {primary key} (account_id, created_at, position)
) {by account_id};

-- Lists are read by one of these: newest first, of all rows of an account or of some.
create index {prefix}transactions_type
  on {prefix}transactions (account_id, type, status, created_at, position);

create index {prefix}transactions_card on {prefix}transactions (account_id, card_id, created_at, position)
  where card_id is not null;

create index {prefix}transactions_key on {prefix}transactions (account_id, key_id, created_at, position)
  where key_id is not null;

create index {prefix}transactions_payments on {prefix}transactions (account_id, created_at, position)
  where source_kind = 'payment';
`
