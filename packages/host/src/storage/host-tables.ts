/** The DDL of the tables that every host has, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
-- One row: the environment of the first host or command that opened this database.
create table {prefix}environment (
  id integer primary key check (id = 1),
  name text not null check (name in ('sandbox', 'live'))
) {reference};

create table {prefix}events (
  position {position},
  id {id} not null,
  account_id {id} not null,
  subject_kind {id} not null,
  subject_id {id} not null,
  number integer not null,
  from_status text,
  to_status text,
  cause text not null,
  amount_cents bigint,
  detail text,
  at bigint not null,
  read_at bigint,
  kept smallint not null,
  {primary key} (account_id, position),
  unique (account_id, id),
  unique (account_id, subject_kind, subject_id, number)
) {by account_id};

create index {prefix}events_unread on {prefix}events (account_id, position) where read_at is null;

-- Events that no decision reads are deleted some time later.
create index {prefix}events_old on {prefix}events (at) where kept = 0;

-- The events that wait to be published, by their lane. A table of its own: an update of the event would write an entry of each of its indexes again.
create table {prefix}waiting_events (
  lane integer not null,
  position bigint not null,
  account_id {id} not null,
  primary key (lane, position, account_id)
) {without rowid} {by account_id};

-- One row for each lane of events: the last position that was given to an event of it.
create table {prefix}event_lanes (
  lane integer primary key,
  position bigint not null
) {reference};

create table {prefix}jobs (
  account_id {id} not null,
  kind {id} not null,
  subject_id {id} not null,
  due_at bigint not null,
  attempts integer not null default 0,
  leased_until bigint not null default 0,
  created_at bigint not null,
  primary key (account_id, kind, subject_id)
) {by account_id};

create index {prefix}jobs_due on {prefix}jobs (due_at);

create table {prefix}requests (
  account_id {id} not null,
  at bigint not null,
  id {id} not null,
  method text not null,
  operation text not null,
  key_id {id},
  session_id {id},
  credential text,
  status integer not null,
  code text,
  rule text,
  reason text,
  message text,
  field text,
  details text,
  replayed integer not null,
  -- Whether it was a call of a tool.
  by_tool integer not null default 0,
  duration_us bigint not null,
  -- Whether the key is that of an account console: a person, and no program.
  console integer not null default 0,
  primary key (account_id, at, id)
) {without rowid} {by account_id};

create index {prefix}requests_id on {prefix}requests (id);

create index {prefix}requests_at on {prefix}requests (at);

-- Messages of providers that were accepted, with the digest of their event: the same id with another event is a conflict.
create table {prefix}provider_messages (
  provider {id} not null,
  message_id {id} not null,
  digest text not null,
  received_at bigint not null,
  primary key (provider, message_id)
) {lookup by message_id};

create index {prefix}provider_messages_received on {prefix}provider_messages (received_at);

-- Events of providers that could not be applied: they name an object that is unknown here or cannot take them yet, or repeat an id with
-- another content. From attention_at on they wait for the operator. Few rows, which are read by their object and locked.
create table {prefix}kept_events (
  id {id} primary key,
  provider {id} not null,
  type text not null,
  -- The provider's id of the object.
  object_id {id} not null,
  message_id {id} not null,
  digest text not null,
  reason text not null check (reason in ('unknown_object', 'too_early', 'conflict')),
  amount_cents bigint,
  card_id text,
  -- JSON: the data of the event.
  data text not null,
  received_at bigint not null,
  attention_at bigint not null,
  handled_at bigint,
  reference text
) {reference};

create index {prefix}kept_events_object on {prefix}kept_events (provider, object_id) where handled_at is null;

create index {prefix}kept_events_open on {prefix}kept_events (attention_at) where handled_at is null;

create index {prefix}kept_events_handled on {prefix}kept_events (handled_at) where handled_at is not null;

-- One row for each process, which it writes every few seconds to see whether the database takes writes and keeps them.
create table {prefix}heartbeats (
  host_id {id} primary key,
  beats bigint not null,
  at bigint not null,
  previous_at bigint not null
) {lookup by host_id};

-- Acknowledged heartbeats that the database has lost, and other writes with them. No host is ready until an operator has accepted it.
create table {prefix}lost_history (
  host_id {id} primary key,
  found_at bigint not null,
  acknowledged_at bigint not null,
  kept_at bigint,
  accepted_at bigint
) {reference};

-- One row for each time that an operator said that the database was brought back to an earlier time.
create table {prefix}restores (
  restored_at bigint primary key,
  since bigint not null
) {reference};

-- Keys that are denied since a restore: they may have been revoked by writes that are lost.
create table {prefix}held_keys (
  key_id {id} primary key,
  account_id {id} not null,
  held_at bigint not null
) {without rowid} {lookup by key_id};

create index {prefix}held_keys_account on {prefix}held_keys (account_id);

-- What operators changed by commands that repair data: kept for good.
create table {prefix}operator_actions (
  account_id {id} not null,
  id {id} not null,
  at bigint not null,
  command text not null,
  detail text not null,
  primary key (account_id, id)
) {by account_id};

create index {prefix}operator_actions_at on {prefix}operator_actions (at);
`
