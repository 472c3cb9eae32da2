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

-- postgres with all features only
-- Tries the lock of a key and reads its record: in two statements, since one statement would read what was committed
-- before it began, and so miss the run that has just given the lock back.
create function {prefix}idempotency_lock(wanted_account text, wanted text)
returns table (got boolean, fingerprint text, fence bigint, state text, until bigint, response text) language plpgsql as $$
begin
  got := pg_try_advisory_xact_lock(hashtextextended(wanted, 0));
  if got then
    select held.fingerprint, held.fence, held.state, held.until, held.response
      into fingerprint, fence, state, until, response
      from {prefix}idempotency as held where held.account_id = wanted_account and held.digest = wanted;
  end if;
  return next;
end $$;
-- both
`
