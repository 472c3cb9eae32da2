/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
-- Counts that each host adds up in memory and writes every few seconds, in no request: no need to be where an account is.
create table {prefix}alias_usage (
  alias {id} not null,
  principal {id} not null,
  count bigint not null check (count > 0),
  first_seen bigint not null,
  last_seen bigint not null,
  primary key (alias, principal)
) {without rowid} {reference};

create index {prefix}alias_usage_last_seen on {prefix}alias_usage (last_seen);

-- One row for each running host.
create table {prefix}alias_writers (
  writer {id} primary key,
  sequence bigint not null,
  seen_at bigint not null
) {without rowid} {reference};
`
