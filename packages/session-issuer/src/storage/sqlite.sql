-- version 1
create table {prefix}accounts (
  account text primary key,
  revision integer not null
) without rowid;

create table {prefix}keys (
  id text primary key,
  account text not null,
  lineage_id text not null,
  digest text not null,
  pepper_id text not null,
  last_used_at integer,
  ended_at integer,
  record text not null
) without rowid;

create index {prefix}keys_account on {prefix}keys (account);

create index {prefix}keys_lineage_id on {prefix}keys (lineage_id);

create index {prefix}keys_ended_at on {prefix}keys (ended_at) where ended_at is not null;

create table {prefix}key_policies (
  id text primary key,
  lineage_id text not null,
  document text not null
) without rowid;

create index {prefix}key_policies_lineage_id on {prefix}key_policies (lineage_id);

create table {prefix}sessions (
  id text primary key,
  account text not null,
  root_id text not null,
  path text not null,
  expires_at integer not null,
  revoked_at integer,
  record text not null
) without rowid;

create index {prefix}sessions_account on {prefix}sessions (account, expires_at);

create index {prefix}sessions_root_id on {prefix}sessions (root_id);

create index {prefix}sessions_expires_at on {prefix}sessions (expires_at);

create table {prefix}session_policies (
  id text primary key,
  session_id text not null,
  document text not null
) without rowid;

create index {prefix}session_policies_session_id on {prefix}session_policies (session_id);

create table {prefix}feed (
  position integer primary key autoincrement,
  kind text not null,
  id text not null,
  version integer,
  at integer not null,
  starts_at integer
);

create index {prefix}feed_at on {prefix}feed (at);

create table {prefix}signing_keys (
  issuer text primary key,
  revision integer not null,
  sealed text not null
) without rowid;

-- version 2
create table {prefix}audit (
  id text primary key,
  account text not null,
  at integer not null,
  expires_at integer not null,
  entry text not null
) without rowid;

create index {prefix}audit_account on {prefix}audit (account, at, id);

create index {prefix}audit_expires_at on {prefix}audit (expires_at);

-- version 3
create table {prefix}lineage_policies (
  id text not null,
  lineage_id text not null,
  document text not null,
  primary key (id, lineage_id)
) without rowid;

insert into {prefix}lineage_policies select id, lineage_id, document from {prefix}key_policies;

drop table {prefix}key_policies;

alter table {prefix}lineage_policies rename to {prefix}key_policies;

create index {prefix}key_policies_lineage_id on {prefix}key_policies (lineage_id);

drop index {prefix}sessions_account;

-- Of live sessions only, and with the id: a page reads neither revoked ones nor all of those that end at one instant.
create index {prefix}sessions_account on {prefix}sessions (account, expires_at, id) where revoked_at is null;
