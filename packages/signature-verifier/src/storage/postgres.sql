-- version 1
create table {prefix}nonces (
  digest text collate "C" primary key,
  expires_at bigint not null
);

create index {prefix}nonces_expires_at on {prefix}nonces (expires_at);

-- version 2
create table {prefix}challenges (
  digest text collate "C" primary key,
  expires_at bigint not null
);

create index {prefix}challenges_expires_at on {prefix}challenges (expires_at);
