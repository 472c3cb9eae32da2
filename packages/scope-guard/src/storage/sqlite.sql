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
