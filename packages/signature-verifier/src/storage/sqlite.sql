-- version 1
create table {prefix}nonces (
  digest text primary key,
  expires_at integer not null
) without rowid;

create index {prefix}nonces_expires_at on {prefix}nonces (expires_at);

-- version 2
create table {prefix}challenges (
  digest text primary key,
  expires_at integer not null
) without rowid;

create index {prefix}challenges_expires_at on {prefix}challenges (expires_at);
