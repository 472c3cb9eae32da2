/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL = `-- version 1
create table {prefix}spend_counters (
  account {id} not null,
  counter {id} not null,
  used bigint not null check (used >= 0),
  held bigint not null default 0 check (held >= 0),
  expires_at bigint,
  primary key (account, counter)
) {without rowid} {by account};

create index {prefix}spend_counters_expires_at on {prefix}spend_counters (expires_at);

create table {prefix}spend_holds (
  account {id} not null,
  hold {id} not null,
  items {json} not null,
  held_at bigint not null,
  primary key (account, hold)
) {without rowid} {by account};

create table {prefix}approvals (
  account {id} not null,
  id {id} not null,
  key_id {id} not null,
  request text not null,
  state text not null check (state in ('pending', 'approved', 'denied', 'used')),
  requested_at bigint not null,
  expires_at bigint not null,
  decided_by text,
  decided_at bigint,
  effect {id},
  primary key (account, id)
) {without rowid} {by account};

create index {prefix}approvals_expires_at on {prefix}approvals (expires_at);
`
