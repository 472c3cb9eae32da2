-- version 1
create table {prefix}spend_counters (
  account text not null,
  counter text not null,
  used integer not null check (used >= 0),
  expires_at integer,
  primary key (account, counter)
) without rowid;

create index {prefix}spend_counters_expires_at on {prefix}spend_counters (expires_at);

create table {prefix}spend_holds (
  account text not null,
  hold text not null,
  items text not null,
  held_at integer not null,
  primary key (account, hold)
) without rowid;

-- version 2
alter table {prefix}spend_counters add column held integer not null default 0 check (held >= 0);

update {prefix}spend_counters set held = (
  select coalesce(sum(json_extract(part.value, '$[2]')), 0)
  from {prefix}spend_holds h, json_each(h.items) part
  where h.account = {prefix}spend_counters.account
    and json_extract(part.value, '$[0]') = {prefix}spend_counters.counter
);
