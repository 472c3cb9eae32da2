/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
-- The lane of the revocation feed, 0 to 31, is computed from the route of the account, with which every id begins. Rows of an account and its
-- entries in the feed lie together, so that a revocation is one commit on one machine.
-- No primary key begins with it but that of accounts: SQLite would read a whole lane by it rather than use the index of an account.
create table {prefix}accounts (
  lane {id} not null,
  account {id} not null,
  revision bigint not null,
  primary key (lane, account)
) {without rowid} {by lane};

create table {prefix}keys (
  lane {id} not null,
  id {id} not null,
  account {id} not null,
  lineage_id {id} not null,
  digest text not null,
  pepper_id text not null,
  last_used_at bigint,
  ended_at bigint,
  record text not null,
  primary key (id, lane)
) {without rowid} {by lane};

create index {prefix}keys_account on {prefix}keys (lane, account);

create index {prefix}keys_lineage_id on {prefix}keys (lane, lineage_id);

create index {prefix}keys_ended_at on {prefix}keys (ended_at) where ended_at is not null;

create table {prefix}key_policies (
  lane {id} not null,
  id {id} not null,
  lineage_id {id} not null,
  document text not null,
  primary key (id, lane, lineage_id)
) {without rowid} {by lane};

create index {prefix}key_policies_lineage_id on {prefix}key_policies (lane, lineage_id);

create table {prefix}sessions (
  lane {id} not null,
  id {id} not null,
  account {id} not null,
  root_id {id} not null,
  path {id} not null,
  expires_at bigint not null,
  revoked_at bigint,
  record text not null,
  primary key (id, lane)
) {without rowid} {by lane};

-- Of live sessions only, and with the id: a page reads neither revoked ones nor all of those that end at one instant.
create index {prefix}sessions_account on {prefix}sessions (lane, account, expires_at, id) where revoked_at is null;

create index {prefix}sessions_root_id on {prefix}sessions (lane, root_id);

create index {prefix}sessions_expires_at on {prefix}sessions (expires_at);

create table {prefix}session_policies (
  lane {id} not null,
  id {id} not null,
  session_id {id} not null,
  document text not null,
  primary key (id, lane)
) {without rowid} {by lane};

create index {prefix}session_policies_session_id on {prefix}session_policies (lane, session_id);

create table {prefix}feed (
  lane {id} not null,
  position {position},
  kind text not null,
  id text not null,
  version bigint,
  at bigint not null,
  starts_at bigint,
  {primary key} (lane, position)
) {by lane};

create index {prefix}feed_at on {prefix}feed (at);

-- One row for each issuer.
create table {prefix}signing_keys (
  issuer {id} primary key,
  revision bigint not null,
  sealed text not null
) {without rowid} {reference};

create table {prefix}audit (
  lane {id} not null,
  id {id} not null,
  account {id} not null,
  at bigint not null,
  expires_at bigint not null,
  entry text not null,
  primary key (id, lane)
) {without rowid} {by lane};

create index {prefix}audit_account on {prefix}audit (lane, account, at, id);

create index {prefix}audit_expires_at on {prefix}audit (expires_at);
`
