/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
create table {prefix}nonces (
  digest {id} primary key,
  expires_at bigint not null
) {without rowid};

create index {prefix}nonces_expires_at on {prefix}nonces (expires_at);

create table {prefix}challenges (
  digest {id} primary key,
  expires_at bigint not null
) {without rowid};

create index {prefix}challenges_expires_at on {prefix}challenges (expires_at);
`
