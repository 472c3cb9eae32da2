-- version 1
create table {prefix}alias_usage (
  alias text collate "C" not null,
  principal text collate "C" not null,
  count bigint not null check (count > 0),
  first_seen bigint not null,
  last_seen bigint not null,
  primary key (alias, principal)
);

create index {prefix}alias_usage_last_seen on {prefix}alias_usage (last_seen);

create table {prefix}alias_writers (
  writer text collate "C" primary key,
  sequence bigint not null,
  seen_at bigint not null
);
