/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
-- A statement is verified before it says whose account it is for. Rows live as long as their statements: 10 minutes.
create table {prefix}nonces (
  digest {id} primary key,
  expires_at bigint not null
) {without rowid} {lookup by digest};

create index {prefix}nonces_expires_at on {prefix}nonces (expires_at);

-- Issued to a wallet that has not signed yet, so that no account is known.
create table {prefix}challenges (
  digest {id} primary key,
  expires_at bigint not null
) {without rowid} {lookup by digest};

create index {prefix}challenges_expires_at on {prefix}challenges (expires_at);
`
