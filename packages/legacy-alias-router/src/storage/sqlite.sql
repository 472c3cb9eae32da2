-- version 1
create table {prefix}alias_usage (
  alias text not null,
  principal text not null,
  count integer not null check (count > 0),
  first_seen integer not null,
  last_seen integer not null,
  primary key (alias, principal)
) without rowid;

create index {prefix}alias_usage_last_seen on {prefix}alias_usage (last_seen);

create table {prefix}alias_writers (
  writer text primary key,
  sequence integer not null,
  seen_at integer not null
) without rowid;
