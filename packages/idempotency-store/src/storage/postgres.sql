-- version 1
create table {prefix}idempotency (
  digest text collate "C" primary key,
  fingerprint text not null,
  owner text not null,
  fence bigint not null,
  state text not null,
  until bigint not null,
  answer text
);

create index {prefix}idempotency_until on {prefix}idempotency (until) where state <> 'running';

-- version 2
create index {prefix}idempotency_lost on {prefix}idempotency (until) where state = 'running';
