-- version 1
create table {prefix}idempotency (
  digest text primary key,
  fingerprint text not null,
  owner text not null,
  fence integer not null,
  state text not null,
  until integer not null,
  answer text
);

create index {prefix}idempotency_until on {prefix}idempotency (until) where state <> 'running';
