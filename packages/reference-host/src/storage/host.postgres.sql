-- version 1
create table {prefix}partners (
  id text primary key,
  name text not null,
  created_at bigint not null
);

create table {prefix}validated_keys (
  key_id text primary key,
  validated_at bigint not null
);

create table {prefix}users (
  id text primary key,
  account_id text not null unique,
  partner_id text references {prefix}partners (id),
  external_id text,
  principal text,
  wallet_address text,
  wallet_label text,
  kyc_status text not null,
  created_at bigint not null,
  unique (partner_id, external_id),
  unique (principal),
  check ((principal is null) = (partner_id is not null)),
  check ((external_id is null) = (partner_id is null))
);

create table {prefix}cards (
  id text primary key,
  account_id text not null references {prefix}users (account_id),
  position integer not null,
  last4 text not null,
  status text not null check (status in ('active', 'locked', 'canceled', 'not_activated')),
  limit_cents bigint check (limit_cents > 0),
  limit_frequency text,
  expiration_month integer not null,
  expiration_year integer not null,
  created_at bigint not null,
  unique (account_id, position)
);

create table {prefix}payins (
  id text primary key,
  account_id text not null,
  user_id text,
  effect_id text not null unique,
  amount_cents bigint not null check (amount_cents between 1 and 100000000),
  currency text not null,
  method text not null check (method in ('onchain', 'balance')),
  status text not null,
  properties text not null,
  hold text not null,
  created_at bigint not null,
  expires_at bigint not null
);

create index {prefix}payins_account on {prefix}payins (account_id, created_at);

-- version 2
create table {prefix}subscriptions (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  effect_id text collate "C" not null unique,
  plan_id text not null,
  amount_cents bigint not null check (amount_cents between 1 and 100000000),
  plan_interval text not null check (plan_interval in ('month', 'year')),
  anchor_at bigint,
  paid_months integer not null default 0,
  created_at bigint not null,
  -- No index has the position alone, so that no query plan reads a list through the rows of all accounts.
  primary key (account_id, position),
  check ((anchor_at is null) = (paid_months = 0))
);

drop index {prefix}payins_account;

alter table {prefix}payins rename to {prefix}payins_1;

create table {prefix}payins (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  user_id text,
  effect_id text collate "C" not null unique,
  subscription_id text collate "C" references {prefix}subscriptions (id),
  plan_id text,
  amount_cents bigint not null check (amount_cents between 1 and 100000000),
  currency text not null,
  method text not null check (method in ('onchain', 'balance')),
  status text not null
    check (status in ('awaiting_payment', 'confirming', 'settled', 'expired', 'failed', 'canceled')),
  moves integer not null,
  properties text not null,
  hold text not null,
  chain_id bigint,
  asset text,
  token text,
  pay_to text collate "C",
  own_receiver smallint not null default 0,
  units text collate "C",
  payer text,
  submitted_tx text,
  transfer_tx text,
  transfer_log bigint,
  transfer_block bigint,
  transfer_block_hash text,
  created_at bigint not null,
  expires_at bigint not null,
  due_at bigint not null,
  primary key (account_id, position),
  unique (chain_id, transfer_tx, transfer_log),
  check ((chain_id is null) = (pay_to is null) and (chain_id is null) = (token is null)
    and (chain_id is null) = (units is null)),
  check ((transfer_tx is null) = (transfer_log is null) and (transfer_tx is null) = (transfer_block is null)
    and (transfer_tx is null) = (transfer_block_hash is null))
);

insert into {prefix}payins (id, account_id, user_id, effect_id, amount_cents, currency, method, status, moves,
    properties, hold, created_at, expires_at, due_at)
  select id, account_id, user_id, effect_id, amount_cents, currency, method, status, 1,
    properties, hold, created_at, expires_at, expires_at from {prefix}payins_1 order by created_at;

drop table {prefix}payins_1;

create index {prefix}payins_due on {prefix}payins (chain_id, due_at, id)
  where status in ('awaiting_payment', 'confirming');

create index {prefix}payins_payable on {prefix}payins (chain_id, pay_to, payer, units, position)
  where status in ('awaiting_payment', 'confirming') and transfer_tx is null;

create index {prefix}payins_own_address on {prefix}payins (account_id, chain_id)
  where own_receiver = 1;

create index {prefix}payins_watched on {prefix}payins (chain_id, pay_to)
  where own_receiver = 1 and status in ('awaiting_payment', 'confirming');

create index {prefix}payins_submitted on {prefix}payins (chain_id, submitted_tx, position)
  where status = 'confirming' and submitted_tx is not null and transfer_tx is null;

create index {prefix}payins_transfer on {prefix}payins (chain_id, transfer_block)
  where transfer_tx is not null;

create index {prefix}payins_seen on {prefix}payins (chain_id)
  where status = 'confirming' and transfer_tx is not null;

create table {prefix}payin_moves (
  payin_id text collate "C" not null references {prefix}payins (id),
  number integer not null,
  from_status text,
  to_status text not null,
  cause text not null,
  detail text,
  at bigint not null,
  primary key (payin_id, number)
);

insert into {prefix}payin_moves (payin_id, number, to_status, cause, at)
  select id, 1, status, 'created', created_at from {prefix}payins;

create table {prefix}deposit_addresses (
  chain_id bigint not null,
  address text collate "C" not null,
  token text collate "C" not null,
  payin_id text collate "C" references {prefix}payins (id),
  primary key (chain_id, address)
);

create index {prefix}deposit_addresses_free on {prefix}deposit_addresses (chain_id, token, address)
  where payin_id is null;

create table {prefix}chain_cursors (
  chain_id bigint primary key,
  next_block bigint not null,
  head_block bigint not null,
  scanned_at bigint not null,
  lease_owner text not null,
  lease_until bigint not null
);

-- version 3
alter table {prefix}payins add column operation text collate "C" not null default 'subscriptions.payin';

update {prefix}payins set operation = 'subscriptions.checkout'
  where effect_id in (select effect_id from {prefix}subscriptions);

-- version 4
-- Deposit addresses derived from an extended public key, and transfers that match no pay-in.
alter table {prefix}deposit_addresses add column xpub text;

alter table {prefix}deposit_addresses add column xpub_index bigint;

alter table {prefix}deposit_addresses add column client_class text;

alter table {prefix}deposit_addresses add column given_at bigint;

create unique index {prefix}deposit_addresses_index on {prefix}deposit_addresses (xpub, xpub_index)
  where xpub is not null;

create unique index {prefix}deposit_addresses_derived on {prefix}deposit_addresses (address)
  where xpub is not null;

create index {prefix}deposit_addresses_address on {prefix}deposit_addresses (address);

create index {prefix}deposit_addresses_client
  on {prefix}deposit_addresses (client_class, chain_id, token, given_at) where client_class is not null;

create index {prefix}deposit_addresses_given on {prefix}deposit_addresses (given_at)
  where client_class is not null;

create table {prefix}deposit_sources (
  id text collate "C" primary key,
  next_index bigint not null check (next_index between 0 and 2147483648)
);

drop index {prefix}payins_own_address;

create index {prefix}payins_unpaid_address on {prefix}payins (account_id, created_at)
  where own_receiver = 1 and status <> 'settled';

create table {prefix}chain_audits (
  chain_id bigint primary key,
  next_block bigint not null,
  claimed_at bigint not null
);

insert into {prefix}chain_audits (chain_id, next_block, claimed_at)
  select chain_id, next_block, 0 from {prefix}chain_cursors where next_block >= 0;

create table {prefix}unmatched_transfers (
  position bigint generated always as identity primary key,
  chain_id bigint not null,
  tx_hash text collate "C" not null,
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
);

create index {prefix}unmatched_transfers_open on {prefix}unmatched_transfers (position)
  where handled_at is null;

-- version 5
-- People: what they tell of themselves, sealed; the check of their identity; agreements; events; jobs for providers.
alter table {prefix}users add column profile text;

alter table {prefix}users add column data_key text;

alter table {prefix}users add column skipped_steps text not null default '';

alter table {prefix}users add column referral_code text collate "C";

create unique index {prefix}users_referral_code on {prefix}users (referral_code);

alter table {prefix}users add column referred_by text collate "C";

-- How many an account has invited.
create index {prefix}users_referred_by on {prefix}users (referred_by);

create table {prefix}kyc_applications (
  account_id text collate "C" primary key references {prefix}users (account_id),
  id text collate "C" not null unique,
  fields text,
  version bigint,
  reason text,
  completion_link text,
  verification_link text,
  submitted_at bigint not null
);

create table {prefix}agreement_acceptances (
  account_id text collate "C" not null references {prefix}users (account_id),
  digest text collate "C" not null,
  key_id text not null,
  accepted_at bigint not null,
  primary key (account_id, digest)
);

create table {prefix}events (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  number integer not null,
  from_status text,
  to_status text,
  cause text not null,
  amount_cents bigint,
  detail text,
  at bigint not null,
  read_at bigint,
  primary key (account_id, position),
  unique (subject_kind, subject_id, number)
);

create index {prefix}events_unread on {prefix}events (account_id, position) where read_at is null;

create table {prefix}jobs (
  kind text collate "C" not null,
  subject_id text collate "C" not null,
  due_at bigint not null,
  attempts integer not null default 0,
  leased_until bigint not null default 0,
  created_at bigint not null,
  primary key (kind, subject_id)
);

create index {prefix}jobs_due on {prefix}jobs (due_at);

create table {prefix}provider_messages (
  provider text collate "C" not null,
  message_id text collate "C" not null,
  received_at bigint not null,
  primary key (provider, message_id)
);

create index {prefix}provider_messages_received on {prefix}provider_messages (received_at);

create table {prefix}sandbox_provider_calls (
  port text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  what text not null,
  primary key (port, id)
);

-- version 6
-- Cards and their authorizations; deposits, withdrawals, contracts and bills.
create table {prefix}card_folders (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  name text not null,
  created_at bigint not null,
  primary key (account_id, position)
);

alter table {prefix}cards add column encrypted_name text;

alter table {prefix}cards add column encrypted_color text;

alter table {prefix}cards add column encrypted_emoji text;

alter table {prefix}cards add column encrypted_memo text;

alter table {prefix}cards add column folder_id text collate "C" references {prefix}card_folders (id);

alter table {prefix}cards add column disposable smallint not null default 0;

alter table {prefix}cards add column auto_cancel_after_auth smallint not null default 0;

alter table {prefix}cards add column canceled_at bigint;

alter table {prefix}cards add column cancel_reason text;

alter table {prefix}cards add column issuer text collate "C" not null default 'sandbox';

-- The lineage of the key that made the card, whose policies bind it; null for a seeded card.
alter table {prefix}cards add column key_account_id text collate "C";

alter table {prefix}cards add column key_lineage_id text collate "C";

-- JSON: the policies of the session that made the card, beyond those of its key.
alter table {prefix}cards add column session_policies text not null default '[]';

create index {prefix}cards_folder on {prefix}cards (folder_id) where folder_id is not null;

create index {prefix}cards_key on {prefix}cards (key_account_id, key_lineage_id)
  where key_lineage_id is not null;

create table {prefix}authorizations (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  card_id text collate "C" not null references {prefix}cards (id),
  issuer text not null,
  status text not null check (status in ('authorized', 'declined', 'cleared', 'reversed')),
  amount_cents bigint not null check (amount_cents > 0),
  cleared_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  excess_cents bigint not null default 0,
  attention text,
  currency text not null,
  merchant text not null,
  decline_reason text,
  decline_rule text,
  hold text,
  created_at bigint not null,
  primary key (account_id, position)
);

create index {prefix}authorizations_card on {prefix}authorizations (card_id, created_at);

create index {prefix}authorizations_page on {prefix}authorizations (account_id, card_id, position);

create index {prefix}authorizations_attention on {prefix}authorizations (position)
  where attention is not null;

create table {prefix}deposits (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  provider text collate "C" not null,
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
  created_at bigint not null,
  updated_at bigint not null,
  primary key (account_id, position)
);

-- A withdrawal to an address of the host is refused.
create index {prefix}deposits_by_address on {prefix}deposits (deposit_address);

create table {prefix}withdrawals (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  provider text collate "C" not null,
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
  primary key (account_id, position)
);

create index {prefix}withdrawals_open on {prefix}withdrawals (account_id)
  where status in ('pending', 'ready');

create index {prefix}withdrawals_polled on {prefix}withdrawals (account_id)
  where open_to_polling_until is not null;

create index {prefix}withdrawals_attention on {prefix}withdrawals (position)
  where attention is not null;

create table {prefix}contracts (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  label text,
  created_at bigint not null,
  primary key (account_id, position)
);

create table {prefix}bills (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  payee text not null,
  amount_cents bigint not null check (amount_cents > 0),
  reference text,
  due_at bigint not null,
  paid_at bigint,
  created_at bigint not null,
  primary key (account_id, position)
);

-- Open bills are counted for each new one.
create index {prefix}bills_open on {prefix}bills (account_id) where paid_at is null;

-- A canceled subscription has no further period.
alter table {prefix}subscriptions add column canceled_at bigint;

-- Payments name their receiver by its wallet.
create index {prefix}users_wallet on {prefix}users (wallet_address) where principal is not null;

-- Requests of command lines to be signed in. A request that expired is deleted.
create table {prefix}cli_requests (
  request_id text collate "C" primary key,
  token_digest text collate "C" not null unique,
  code text not null,
  wrong_codes integer not null default 0,
  status text not null check (status in ('started', 'approved', 'taken', 'denied')),
  client_name text,
  client_address text not null,
  session text,
  started_at bigint not null,
  expires_at bigint not null,
  check ((session is not null) = (status in ('approved', 'taken')))
);

create index {prefix}cli_requests_expiry on {prefix}cli_requests (expires_at);

-- version 7
-- The requests of a card network that may have been answered as approved, separated by spaces.
alter table {prefix}authorizations add column attempt text;

-- version 8
-- One row: the environment of the first host or command that opened this database.
create table {prefix}environment (
  id integer primary key check (id = 1),
  name text not null check (name in ('sandbox', 'live'))
);

-- version 9
-- A skipped index was perhaps given out by a database that is lost, nobody knows on which chain: it is watched on each of its xpub.
alter table {prefix}deposit_addresses add column skipped smallint not null default 0;

drop index {prefix}deposit_addresses_index;

drop index {prefix}deposit_addresses_derived;

create unique index {prefix}deposit_addresses_index on {prefix}deposit_addresses (xpub, xpub_index)
  where xpub is not null and skipped = 0;

create unique index {prefix}deposit_addresses_derived on {prefix}deposit_addresses (address)
  where xpub is not null and skipped = 0;

-- version 10
-- Why a person must look at a deposit.
alter table {prefix}deposits add column attention text;

create index {prefix}deposits_attention on {prefix}deposits (position)
  where attention is not null;

-- version 11
-- The last policies of keys that have ended, for the cards that they made: the keys are deleted some days after their end.
create table {prefix}card_key_policies (
  account_id text collate "C" not null,
  lineage_id text collate "C" not null,
  policies text not null,
  primary key (account_id, lineage_id)
);

-- version 12
-- Open pay-ins are counted for each new one, unpaid ones are deleted some time after their end.
create index {prefix}payins_open on {prefix}payins (account_id)
  where status in ('awaiting_payment', 'confirming');

create index {prefix}payins_unpaid on {prefix}payins (due_at)
  where status in ('expired', 'failed', 'canceled') and own_receiver = 0 and transfer_tx is null;

create index {prefix}payins_subscription on {prefix}payins (subscription_id)
  where subscription_id is not null;

-- Deleting a pay-in looks for its address.
create index {prefix}deposit_addresses_payin on {prefix}deposit_addresses (payin_id)
  where payin_id is not null;

-- Amounts by which card networks asked to raise authorizations. A row counts for the limit of the card in the period in which it was made.
create table {prefix}authorization_increments (
  position bigint generated always as identity,
  id text collate "C" not null unique,
  account_id text collate "C" not null,
  authorization_id text collate "C" not null references {prefix}authorizations (id),
  card_id text collate "C" not null,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  counted_cents bigint not null,
  decline_reason text,
  decline_rule text,
  hold text,
  attempts text not null,
  created_at bigint not null,
  primary key (account_id, position)
);

create index {prefix}authorization_increments_of on {prefix}authorization_increments (authorization_id, position);

create index {prefix}authorization_increments_card on {prefix}authorization_increments (card_id, created_at);

alter table {prefix}authorizations add column incremented_cents bigint not null default 0;
