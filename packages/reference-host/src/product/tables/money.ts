/** The tables of deposits, withdrawals, contracts and bills, and the requests of command lines. */
export const MONEY = `
create table {prefix}deposits (
  position {position},
  id {id} not null,
  account_id {id} not null,
  provider {id} not null,
  provider_reference text,
  currency text not null,
  network text not null,
  amount text,
  min_amount text not null,
  max_amount text,
  deposit_address text not null,
  extra_id text,
  chain_id bigint,
  status text not null check (status in ('awaitingDeposit', 'processing', 'completed', 'failed')),
  -- Why a person must look at the deposit.
  attention text,
  created_at bigint not null,
  updated_at bigint not null,
  {primary key} (account_id, created_at, position),
  unique (account_id, id)
) {by account_id};

-- The addresses of all deposits: a withdrawal to an address of the host is refused, whichever account deposits there. A row has about
-- 80 bytes, and 80 in its index.
create table {prefix}provider_addresses (
  address {id} primary key
) {without rowid} {lookup by address};

create index {prefix}deposits_attention on {prefix}deposits (position)
  where attention is not null;

create table {prefix}withdrawals (
  position {position},
  id {id} not null,
  account_id {id} not null,
  provider {id} not null,
  status text not null check (status in ('pending', 'ready', 'completed', 'failed')),
  attention text,
  reason text,
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents between 0 and amount_cents),
  excess_cents bigint not null default 0,
  destination text not null,
  relay text,
  tx_hash text,
  hold text not null,
  open_to_polling_until bigint,
  created_at bigint not null,
  updated_at bigint not null,
  {primary key} (account_id, created_at, position),
  unique (account_id, id)
) {by account_id};

create index {prefix}withdrawals_open on {prefix}withdrawals (account_id)
  where status in ('pending', 'ready');

create index {prefix}withdrawals_polled on {prefix}withdrawals (account_id)
  where open_to_polling_until is not null;

create index {prefix}withdrawals_attention on {prefix}withdrawals (position)
  where attention is not null;

create table {prefix}contracts (
  position {position},
  id {id} not null,
  account_id {id} not null,
  label text,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id)
) {by account_id};

create table {prefix}bills (
  position {position},
  id {id} not null,
  account_id {id} not null,
  payee text not null,
  amount_cents bigint not null check (amount_cents > 0),
  reference text,
  due_at bigint not null,
  paid_at bigint,
  created_at bigint not null,
  {primary key} (account_id, created_at, position),
  unique (account_id, id)
) {by account_id};

-- Open bills are counted for each new one.
create index {prefix}bills_open on {prefix}bills (account_id) where paid_at is null;

-- Requests of command lines to be signed in: whose account it is, is decided later. A request that expired is deleted.
create table {prefix}cli_requests (
  request_id {id} primary key,
  token_digest {id} not null unique,
  code text not null,
  wrong_codes integer not null default 0,
  status text not null check (status in ('started', 'approved', 'taken', 'denied')),
  client_name text,
  client_address text not null,
  requested_key text not null,
  session text,
  started_at bigint not null,
  expires_at bigint not null,
  check ((session is not null) = (status in ('approved', 'taken')))
) {reference};

create index {prefix}cli_requests_expiry on {prefix}cli_requests (expires_at);
`
