-- version 1
create table {prefix}partners (
  id text primary key,
  name text not null,
  created_at integer not null
);

create table {prefix}validated_keys (
  key_id text primary key,
  validated_at integer not null
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
  created_at integer not null,
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
  limit_cents integer check (limit_cents > 0),
  limit_frequency text,
  expiration_month integer not null,
  expiration_year integer not null,
  created_at integer not null,
  unique (account_id, position)
);

create table {prefix}payins (
  id text primary key,
  account_id text not null,
  user_id text,
  effect_id text not null unique,
  amount_cents integer not null check (amount_cents between 1 and 100000000),
  currency text not null,
  method text not null check (method in ('onchain', 'balance')),
  status text not null,
  properties text not null,
  hold text not null,
  created_at integer not null,
  expires_at integer not null
);

create index {prefix}payins_account on {prefix}payins (account_id, created_at);
