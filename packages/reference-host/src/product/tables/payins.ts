/** The tables of subscriptions and pay-ins, with the chains on which they are paid. */
export const PAYINS = `
create table {prefix}subscriptions (
  position {position},
  id {id} not null,
  account_id {id} not null,
  effect_id {id} not null,
  plan_id text not null,
  amount_cents bigint not null check (amount_cents between 1 and 100000000),
  plan_interval text not null check (plan_interval in ('month', 'year')),
  anchor_at bigint,
  paid_months integer not null default 0,
  created_at bigint not null,
  -- A canceled subscription has no further period.
  canceled_at bigint,
  -- Not (position) alone: no query plan may read a list through the rows of all accounts.
  {primary key} (account_id, created_at, position),
  unique (account_id, id),
  unique (account_id, effect_id),
  check ((anchor_at is null) = (paid_months = 0))
) {by account_id};

create table {prefix}payins (
  position {position},
  id {id} not null,
  account_id {id} not null,
  user_id text,
  effect_id {id} not null,
  key_id {id},
  operation {id} not null default 'subscriptions.payin',
  subscription_id {id},
  plan_id text,
  amount_cents bigint not null check (amount_cents between 1 and 100000000),
  currency text not null,
  method text not null check (method in ('onchain', 'balance')),
  status text not null
    check (status in ('awaiting_payment', 'confirming', 'settled', 'expired', 'failed', 'canceled')),
  moves integer not null,
  properties text not null,
  -- What it is for, from its properties.
  description text,
  hold text not null,
  chain_id bigint,
  asset text,
  token text,
  pay_to {id},
  own_receiver smallint not null default 0,
  units {id},
  payer text,
  submitted_tx text,
  transfer_tx text,
  transfer_log bigint,
  transfer_block bigint,
  transfer_block_hash text,
  created_at bigint not null,
  expires_at bigint not null,
  due_at bigint not null,
  {primary key} (account_id, created_at, position),
  unique (account_id, id),
  unique (account_id, effect_id),
  foreign key (account_id, subscription_id) references {prefix}subscriptions (account_id, id),
  check ((chain_id is null) = (pay_to is null) and (chain_id is null) = (token is null)
    and (chain_id is null) = (units is null)),
  check ((transfer_tx is null) = (transfer_log is null) and (transfer_tx is null) = (transfer_block is null)
    and (transfer_tx is null) = (transfer_block_hash is null))
) {by account_id};

create index {prefix}payins_unpaid_address on {prefix}payins (account_id, created_at)
  where own_receiver = 1 and status <> 'settled';

-- Open pay-ins are counted for each new one.
create index {prefix}payins_open on {prefix}payins (account_id)
  where status in ('awaiting_payment', 'confirming');

-- Unpaid pay-ins are deleted some time after their end.
create index {prefix}payins_unpaid on {prefix}payins (due_at)
  where status in ('expired', 'failed', 'canceled') and own_receiver = 0 and transfer_tx is null;

create index {prefix}payins_subscription on {prefix}payins (account_id, subscription_id)
  where subscription_id is not null;

-- Lists are read by one of these: newest first, of some pay-ins of an account.
create index {prefix}payins_status on {prefix}payins (account_id, status, created_at, position);

create index {prefix}payins_key on {prefix}payins (account_id, key_id, created_at, position)
  where key_id is not null;

create table {prefix}payin_moves (
  account_id {id} not null,
  payin_id {id} not null,
  number integer not null,
  from_status text,
  to_status text not null,
  cause text not null,
  detail text,
  at bigint not null,
  primary key (account_id, payin_id, number),
  foreign key (account_id, payin_id) references {prefix}payins (account_id, id)
) {by account_id};

-- The pay-ins that can still be paid, of all accounts: the watcher of a chain finds them by a transfer, and expiry by their deadline. Each
-- move of a pay-in changes its row in the same transaction, and its last move deletes it, so the table is as large as what is open. A row
-- has about 350 bytes, and 400 in its indexes.
create table {prefix}open_payins (
  position {position},
  payin_id {id} not null,
  account_id {id} not null,
  chain_id bigint,
  token text,
  pay_to {id},
  own_receiver smallint not null,
  units {id},
  payer text,
  submitted_tx text,
  -- 1: it has a row in payin_transfers, so no other transfer can pay it, and it does not expire.
  has_transfer smallint not null default 0,
  created_at bigint not null,
  due_at bigint not null,
  {primary key} (payin_id)
) {lookup by payin_id};

create index {prefix}open_payins_due on {prefix}open_payins (chain_id, due_at, payin_id) where has_transfer = 0;

create index {prefix}open_payins_payable on {prefix}open_payins (chain_id, pay_to, payer, units, position)
  where has_transfer = 0;

create index {prefix}open_payins_watched on {prefix}open_payins (chain_id, pay_to) where own_receiver = 1;

create index {prefix}open_payins_submitted on {prefix}open_payins (chain_id, submitted_tx, position)
  where submitted_tx is not null and has_transfer = 0;

-- The transfer that each pay-in has. The primary key lets one transfer pay one pay-in of all accounts. Rows of settled pay-ins stay, so
-- that their transfers pay nothing else. A row has about 300 bytes, and 200 in its indexes.
create table {prefix}payin_transfers (
  chain_id bigint not null,
  tx_hash {id} not null,
  log_index bigint not null,
  block_number bigint not null,
  block_hash text not null,
  account_id {id} not null,
  payin_id {id} not null,
  settled smallint not null,
  primary key (chain_id, tx_hash, log_index)
) {lookup by tx_hash};

create index {prefix}payin_transfers_block on {prefix}payin_transfers (chain_id, block_number);

create index {prefix}payin_transfers_confirming on {prefix}payin_transfers (chain_id) where settled = 0;

-- The addresses at which pay-ins are paid: a transfer on a chain names only its receiver. Each is watched for ever. A row has about 200
-- bytes, and 400 in its indexes.
create table {prefix}deposit_addresses (
  chain_id bigint not null,
  address {id} not null,
  token {id} not null,
  -- The pay-in that the address serves, and its account.
  account_id {id},
  payin_id {id},
  -- The extended public key from which the address is derived, and its index; null for a listed address.
  xpub text,
  xpub_index bigint,
  -- Whose unpaid addresses are counted; null once it is paid, or after 30 days.
  client_class text,
  given_at bigint,
  -- 1: a lost database may have given this index out, on an unknown chain. It is watched on every chain of the xpub.
  skipped smallint not null default 0,
  primary key (chain_id, address)
) {reference};

create index {prefix}deposit_addresses_free on {prefix}deposit_addresses (chain_id, token, address)
  where payin_id is null;

create index {prefix}deposit_addresses_address on {prefix}deposit_addresses (address);

create index {prefix}deposit_addresses_client
  on {prefix}deposit_addresses (client_class, chain_id, token, given_at) where client_class is not null;

create index {prefix}deposit_addresses_given on {prefix}deposit_addresses (given_at)
  where client_class is not null;

create unique index {prefix}deposit_addresses_index on {prefix}deposit_addresses (xpub, xpub_index)
  where xpub is not null and skipped = 0;

create unique index {prefix}deposit_addresses_derived on {prefix}deposit_addresses (address)
  where xpub is not null and skipped = 0;

-- One row for each xpub and list of addresses.
create table {prefix}deposit_sources (
  id {id} primary key,
  next_index bigint not null check (next_index between 0 and 2147483648)
) {reference};

-- One row for each chain.
create table {prefix}chain_cursors (
  chain_id bigint primary key,
  next_block bigint not null,
  head_block bigint not null,
  scanned_at bigint not null,
  lease_owner text not null,
  lease_until bigint not null
) {without rowid} {reference};

-- One row for each chain.
create table {prefix}chain_audits (
  chain_id bigint primary key,
  next_block bigint not null,
  claimed_at bigint not null
) {without rowid} {reference};

-- Transfers that match no pay-in, for the operator: most belong to no account.
create table {prefix}unmatched_transfers (
  position {position primary key},
  chain_id bigint not null,
  tx_hash {id} not null,
  log_index bigint not null,
  block_number bigint not null,
  token text not null,
  sender text not null,
  receiver text not null,
  units text not null,
  mined_at bigint not null,
  reason text not null,
  account_id text,
  payin_id text,
  found_at bigint not null,
  handled_at bigint,
  unique (chain_id, tx_hash, log_index)
) {reference};

create index {prefix}unmatched_transfers_open on {prefix}unmatched_transfers (position)
  where handled_at is null;
`
