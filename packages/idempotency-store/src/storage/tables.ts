/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
create table {prefix}idempotency (
  -- The account that the digest was computed from, or the digest of an owner that is not an id.
  account_id {id} not null,
  digest {id} not null,
  fingerprint text not null,
  owner {id} not null,
  fence bigint not null,
  state text not null,
  until bigint not null,
  operation text not null,
  -- The account that operators see.
  account text not null,
  began bigint not null,
  response text,
  decision text,
  primary key (account_id, digest)
) {by account_id};

create index {prefix}idempotency_until on {prefix}idempotency (until) where state <> 'running';

-- postgres only
create index {prefix}idempotency_lost on {prefix}idempotency (began, digest) where state = 'running';
-- both

-- sqlite only
create index {prefix}idempotency_lost on {prefix}idempotency (began, digest) where state = 'running';
-- both
`
