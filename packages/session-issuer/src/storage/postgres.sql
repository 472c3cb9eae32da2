-- version 1
create table {prefix}accounts (
  account text collate "C" primary key,
  revision bigint not null
);

create table {prefix}keys (
  id text collate "C" primary key,
  account text collate "C" not null,
  lineage_id text collate "C" not null,
  digest text not null,
  pepper_id text not null,
  last_used_at bigint,
  ended_at bigint,
  record text not null
);

create index {prefix}keys_account on {prefix}keys (account);

create index {prefix}keys_lineage_id on {prefix}keys (lineage_id);

create index {prefix}keys_ended_at on {prefix}keys (ended_at) where ended_at is not null;

create table {prefix}key_policies (
  id text collate "C" primary key,
  lineage_id text collate "C" not null,
  document text not null
);

create index {prefix}key_policies_lineage_id on {prefix}key_policies (lineage_id);

create table {prefix}sessions (
  id text collate "C" primary key,
  account text collate "C" not null,
  root_id text collate "C" not null,
  path text collate "C" not null,
  expires_at bigint not null,
  revoked_at bigint,
  record text not null
);

create index {prefix}sessions_account on {prefix}sessions (account, expires_at);

create index {prefix}sessions_root_id on {prefix}sessions (root_id);

create index {prefix}sessions_expires_at on {prefix}sessions (expires_at);

create table {prefix}session_policies (
  id text collate "C" primary key,
  session_id text collate "C" not null,
  document text not null
);

create index {prefix}session_policies_session_id on {prefix}session_policies (session_id);

create table {prefix}feed (
  position bigint generated always as identity primary key,
  kind text not null,
  id text not null,
  version bigint,
  at bigint not null,
  starts_at bigint
);

create index {prefix}feed_at on {prefix}feed (at);

create table {prefix}signing_keys (
  issuer text collate "C" primary key,
  revision bigint not null,
  sealed text not null
);

-- version 2
create table {prefix}audit (
  id text collate "C" primary key,
  account text collate "C" not null,
  at bigint not null,
  expires_at bigint not null,
  entry text not null
);

create index {prefix}audit_account on {prefix}audit (account, at, id);

create index {prefix}audit_expires_at on {prefix}audit (expires_at);

-- version 3
-- First, so that the copy has every policy that is committed.
lock table {prefix}key_policies in access exclusive mode;

create table {prefix}lineage_policies (
  id text collate "C" not null,
  lineage_id text collate "C" not null,
  document text not null,
  primary key (id, lineage_id)
);

insert into {prefix}lineage_policies select id, lineage_id, document from {prefix}key_policies;

drop table {prefix}key_policies;

alter table {prefix}lineage_policies rename to {prefix}key_policies;

create index {prefix}key_policies_lineage_id on {prefix}key_policies (lineage_id);

drop index {prefix}sessions_account;

-- Of live sessions only, and with the id: a page reads neither revoked ones nor all of those that end at one instant.
create index {prefix}sessions_account on {prefix}sessions (account, expires_at, id) where revoked_at is null;
