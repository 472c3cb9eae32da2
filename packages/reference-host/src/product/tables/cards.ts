/** The tables of cards, with their folders, policies and authorizations. */
export const CARDS = `
create table {prefix}card_folders (
  position {position},
  id {id} not null,
  account_id {id} not null,
  name text not null,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id)
) {by account_id};

create table {prefix}cards (
  id {id} not null,
  account_id {id} not null references {prefix}users (account_id),
  position integer not null,
  last4 text not null,
  status text not null check (status in ('active', 'locked', 'canceled', 'not_activated')),
  cancel_reason text,
  lock_reason text,
  limit_cents bigint check (limit_cents > 0),
  limit_frequency text,
  expiration_month integer not null,
  expiration_year integer not null,
  encrypted_name text,
  encrypted_color text,
  encrypted_emoji text,
  encrypted_memo text,
  folder_id {id},
  disposable smallint not null default 0,
  auto_cancel_after_auth smallint not null default 0,
  issuer {id} not null default 'sandbox',
  -- The lineage of the key that made the card, whose policies bind it; null for a seeded card.
  key_account_id {id},
  key_lineage_id {id},
  -- JSON: the policies of the session that made the card, beyond those of its key.
  session_policies text not null default '[]',
  created_at bigint not null,
  canceled_at bigint,
  primary key (account_id, id),
  unique (account_id, position),
  foreign key (account_id, folder_id) references {prefix}card_folders (account_id, id)
) {by account_id};

create index {prefix}cards_folder on {prefix}cards (account_id, folder_id) where folder_id is not null;

-- For operators, who are told the last digits of a card.
create index {prefix}cards_last4 on {prefix}cards (last4, created_at);

create index {prefix}cards_key on {prefix}cards (key_account_id, key_lineage_id)
  where key_lineage_id is not null;

-- The last policies of keys that have ended, for the cards that they made: the keys are deleted some days after
-- their end.
create table {prefix}card_key_policies (
  account_id {id} not null,
  lineage_id {id} not null,
  policies text not null,
  primary key (account_id, lineage_id)
) {by account_id};

-- Keys whose revocation locked or canceled cards: their last requests make and reveal none. Deleted with the next such revocation, a day later.
create table {prefix}ended_keys (
  account_id {id} not null,
  key_id {id} not null,
  ended_at bigint not null,
  primary key (account_id, key_id)
) {by account_id};

create table {prefix}authorizations (
  position {position},
  id {id} not null,
  account_id {id} not null,
  card_id {id} not null,
  issuer text not null,
  status text not null check (status in ('authorized', 'declined', 'cleared', 'reversed')),
  -- 0: an account check, which holds nothing.
  amount_cents bigint not null check (amount_cents >= 0),
  incremented_cents bigint not null default 0,
  -- What is held now: each clearing and reversal of a part reduces it.
  held_cents bigint not null check (held_cents >= 0),
  cleared_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  excess_cents bigint not null default 0,
  attention text,
  currency text not null,
  merchant text not null,
  decline_reason text,
  decline_rule text,
  hold text,
  -- The requests of a card network that may have been answered as approved, separated by spaces.
  attempt text,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id),
  foreign key (account_id, card_id) references {prefix}cards (account_id, id)
) {by account_id};

create index {prefix}authorizations_card on {prefix}authorizations (account_id, card_id, created_at, position);

-- Declined authorizations are deleted some time later.
create index {prefix}authorizations_declined on {prefix}authorizations (created_at)
  where status = 'declined' and attention is null and excess_cents = 0;

create index {prefix}authorizations_attention on {prefix}authorizations (position)
  where attention is not null;

-- Amounts by which card networks asked to raise authorizations. A row counts for the limit of the card in the period
-- in which it was made.
create table {prefix}authorization_increments (
  position {position},
  id {id} not null,
  account_id {id} not null,
  authorization_id {id} not null,
  card_id {id} not null,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  counted_cents bigint not null,
  decline_reason text,
  decline_rule text,
  hold text,
  attempts text not null,
  created_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id),
  foreign key (account_id, authorization_id) references {prefix}authorizations (account_id, id)
) {by account_id};

-- Clearings, reversals and refunds that were taken, by the id that the provider gave to their money: each is taken once.
create table {prefix}authorization_movements (
  account_id {id} not null,
  authorization_id {id} not null,
  kind {id} not null check (kind in ('clearing', 'reversal', 'refund')),
  id {id} not null,
  -- The digest of the terms: the same id with others is a conflict.
  digest text not null,
  amount_cents bigint not null,
  created_at bigint not null,
  primary key (account_id, authorization_id, kind, id),
  foreign key (account_id, authorization_id) references {prefix}authorizations (account_id, id)
) {by account_id};

create index {prefix}authorization_increments_of on {prefix}authorization_increments (account_id, authorization_id, position);

create index {prefix}authorization_increments_card on {prefix}authorization_increments (account_id, card_id, created_at);
`
