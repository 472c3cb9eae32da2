/** The tables of people: partners, users, their identity and agreements, and what providers know of them. */
export const PEOPLE = `
-- Few rows, which only operators add.
create table {prefix}partners (
  id text primary key,
  name text not null,
  created_at bigint not null
) {reference};

-- Few rows: the keys of partners that a live host accepts, which only operators add.
create table {prefix}validated_keys (
  key_id text primary key,
  validated_at bigint not null
) {reference};

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
  -- When an operator froze the account: nothing leaves it until an operator unfreezes it. Null: it is not frozen.
  frozen_at bigint,
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
) {reference};

create index {prefix}wallets_address on {prefix}wallets (address);

-- The account of each user of a partner, who calls with its own id for the user. The primary key gives the id one account. A row has about
-- 150 bytes, and 100 in its index.
create table {prefix}partner_users (
  partner_id {id} not null,
  external_id {id} not null,
  account_id {id} not null,
  primary key (partner_id, external_id)
) {lookup by external_id};

-- The account of each referral code, and how many accounts have applied it. A row has about 90 bytes, and 30 in its index.
create table {prefix}referral_codes (
  code {id} primary key,
  account_id {id} not null,
  joined bigint not null default 0
) {lookup by code};

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
) {lookup by id};

-- What the built-in providers of a sandbox have stored: a provider knows its own ids and no accounts.
create table {prefix}sandbox_provider_calls (
  port {id} not null,
  id {id} not null,
  at bigint not null,
  what text not null,
  primary key (port, id)
) {reference};
`
