/** The DDL of the tables of this product, for `migrate` of the kernel: one text for Postgres and SQLite. */
export const DDL = `-- version 1
-- Few rows, which only operators add.
create table {prefix}partners (
  id text primary key,
  name text not null,
  created_at bigint not null
) {global};

-- Few rows: the keys of partners that a live host accepts, which only operators add.
create table {prefix}validated_keys (
  key_id text primary key,
  validated_at bigint not null
) {global};

create table {prefix}users (
  account_id {id} primary key,
  -- It has the same digits as the account, so it is found without a table of its own.
  id {id} not null,
  partner_id {id},
  external_id {id},
  principal {id},
  wallet_address text,
  wallet_label text,
  kyc_status text not null,
  -- Both encrypted: the personal data, and the key with which the account encrypts its own fields.
  profile text,
  data_key text,
  skipped_steps text not null default '',
  referral_code {id},
  referred_by {id},
  created_at bigint not null,
  check ((principal is null) = (partner_id is not null)),
  check ((external_id is null) = (partner_id is null))
) {by account_id};

create index {prefix}users_newest on {prefix}users (created_at, account_id);

-- The account of each verified wallet, for sign-in and for payments to its address. The primary key gives a wallet one account. A row has
-- about 150 bytes, and 180 in its indexes.
create table {prefix}wallets (
  wallet {id} primary key,
  address {id} not null,
  account_id {id} not null
) {lookup};

create index {prefix}wallets_address on {prefix}wallets (address);

-- The account of each user of a partner, who calls with its own id for the user. The primary key gives the id one account. A row has about
-- 150 bytes, and 100 in its index.
create table {prefix}partner_users (
  partner_id {id} not null,
  external_id {id} not null,
  account_id {id} not null,
  primary key (partner_id, external_id)
) {lookup};

-- The account of each referral code, and how many accounts have applied it. A row has about 90 bytes, and 30 in its index.
create table {prefix}referral_codes (
  code {id} primary key,
  account_id {id} not null,
  joined bigint not null default 0
) {lookup};

create table {prefix}kyc_applications (
  account_id {id} primary key references {prefix}users (account_id),
  id {id} not null,
  fields text,
  version bigint,
  reason text,
  completion_link text,
  verification_link text,
  submitted_at bigint not null
) {by account_id};

create table {prefix}agreement_acceptances (
  account_id {id} not null references {prefix}users (account_id),
  digest {id} not null,
  key_id text not null,
  accepted_at bigint not null,
  primary key (account_id, digest)
) {by account_id};

-- The account of each object that a provider, a card network or an operator names by its id alone: cards, authorizations and their
-- increments, deposits, withdrawals and applications for identity checks. The primary key lets a provider's id name one object of all
-- accounts. A row has about 140 bytes, and 90 in its index.
create table {prefix}provider_objects (
  kind {id} not null,
  id {id} not null,
  account_id {id} not null,
  primary key (kind, id)
) {lookup};

-- What the built-in providers of a sandbox have stored: a provider knows its own ids and no accounts.
create table {prefix}sandbox_provider_calls (
  port {id} not null,
  id {id} not null,
  at bigint not null,
  what text not null,
  primary key (port, id)
) {global};

create table {prefix}card_folders (
  position {position},
  id {id} not null,
  account_id {id} not null,
  name text not null,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id)
) {by account_id};

create table {prefix}cards (
  id {id} not null,
  account_id {id} not null references {prefix}users (account_id),
  position integer not null,
  last4 text not null,
  status text not null check (status in ('active', 'locked', 'canceled', 'not_activated')),
  cancel_reason text,
  limit_cents bigint check (limit_cents > 0),
  limit_frequency text,
  expiration_month integer not null,
  expiration_year integer not null,
  encrypted_name text,
  encrypted_color text,
  encrypted_emoji text,
  encrypted_memo text,
  folder_id {id},
  disposable smallint not null default 0,
  auto_cancel_after_auth smallint not null default 0,
  issuer {id} not null default 'sandbox',
  -- The lineage of the key that made the card, whose policies bind it; null for a seeded card.
  key_account_id {id},
  key_lineage_id {id},
  -- JSON: the policies of the session that made the card, beyond those of its key.
  session_policies text not null default '[]',
  created_at bigint not null,
  canceled_at bigint,
  primary key (account_id, id),
  unique (account_id, position),
  foreign key (account_id, folder_id) references {prefix}card_folders (account_id, id)
) {by account_id};

create index {prefix}cards_folder on {prefix}cards (account_id, folder_id) where folder_id is not null;

create index {prefix}cards_key on {prefix}cards (key_account_id, key_lineage_id)
  where key_lineage_id is not null;

-- The last policies of keys that have ended, for the cards that they made: the keys are deleted some days after
-- their end.
create table {prefix}card_key_policies (
  account_id {id} not null,
  lineage_id {id} not null,
  policies text not null,
  primary key (account_id, lineage_id)
) {by account_id};

create table {prefix}authorizations (
  position {position},
  id {id} not null,
  account_id {id} not null,
  card_id {id} not null,
  issuer text not null,
  status text not null check (status in ('authorized', 'declined', 'cleared', 'reversed')),
  amount_cents bigint not null check (amount_cents > 0),
  incremented_cents bigint not null default 0,
  cleared_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  excess_cents bigint not null default 0,
  attention text,
  currency text not null,
  merchant text not null,
  decline_reason text,
  decline_rule text,
  hold text,
  -- The requests of a card network that may have been answered as approved, separated by spaces.
  attempt text,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id),
  foreign key (account_id, card_id) references {prefix}cards (account_id, id)
) {by account_id};

create index {prefix}authorizations_card on {prefix}authorizations (account_id, card_id, created_at);

create index {prefix}authorizations_page on {prefix}authorizations (account_id, card_id, position);

create index {prefix}authorizations_attention on {prefix}authorizations (position)
  where attention is not null;

-- Amounts by which card networks asked to raise authorizations. A row counts for the limit of the card in the period
-- in which it was made.
create table {prefix}authorization_increments (
  position {position},
  id {id} not null,
  account_id {id} not null,
  authorization_id {id} not null,
  card_id {id} not null,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  counted_cents bigint not null,
  decline_reason text,
  decline_rule text,
  hold text,
  attempts text not null,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id),
  foreign key (account_id, authorization_id) references {prefix}authorizations (account_id, id)
) {by account_id};

create index {prefix}authorization_increments_of on {prefix}authorization_increments (account_id, authorization_id, position);

create index {prefix}authorization_increments_card on {prefix}authorization_increments (account_id, card_id, created_at);

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
  {primary key} (account_id, position),
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
) {lookup};

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
) {lookup};

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
) {lookup};

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
) {global};

-- One row for each chain.
create table {prefix}chain_cursors (
  chain_id bigint primary key,
  next_block bigint not null,
  head_block bigint not null,
  scanned_at bigint not null,
  lease_owner text not null,
  lease_until bigint not null
) {without rowid} {global};

-- One row for each chain.
create table {prefix}chain_audits (
  chain_id bigint primary key,
  next_block bigint not null,
  claimed_at bigint not null
) {without rowid} {global};

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
) {global};

create index {prefix}unmatched_transfers_open on {prefix}unmatched_transfers (position)
  where handled_at is null;

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
  {primary key} (account_id, position),
  unique (account_id, id)
) {by account_id};

-- The addresses of all deposits: a withdrawal to an address of the host is refused, whichever account deposits there. A row has about
-- 80 bytes, and 80 in its index.
create table {prefix}provider_addresses (
  address {id} primary key
) {without rowid} {lookup};

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
  {primary key} (account_id, position),
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
  {primary key} (account_id, position),
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
  session text,
  started_at bigint not null,
  expires_at bigint not null,
  check ((session is not null) = (status in ('approved', 'taken')))
) {global};

create index {prefix}cli_requests_expiry on {prefix}cli_requests (expires_at);
`
