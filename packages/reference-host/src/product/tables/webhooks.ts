/** The tables of events that partners and the operator are told: what they read, and where it is delivered. */
export const WEBHOOKS = `
-- The events of a partner's users, or of all wallet users, as they are sent. A row has about 600 bytes, and 200 in its indexes; kept 30 days.
create table {prefix}published_events (
  -- A partner, or 'operator'.
  recipient_id {id} not null,
  lane integer not null,
  position bigint not null,
  event_id {id} not null,
  body text not null,
  published_at bigint not null,
  primary key (recipient_id, lane, position)
) {by recipient_id};

create index {prefix}published_events_id on {prefix}published_events (event_id);

create index {prefix}published_events_at on {prefix}published_events (published_at);

-- Where events are sent. Few rows, which only operators add.
create table {prefix}webhook_endpoints (
  id {id} primary key,
  -- A partner, or 'operator'.
  recipient_id {id} not null,
  url text not null,
  -- The secret that signs, encrypted; and the one before it, which also signs until a time.
  secret text not null,
  previous_secret text,
  previous_until bigint,
  -- Why no events are sent: 'operator', 'gone' (the endpoint responded with 410) or 'failing'. Null: they are sent.
  disabled_for text check (disabled_for in ('operator', 'gone', 'failing')),
  -- The places up to which each event was sent or has a row in webhook_retries.
  sent_to text not null,
  -- When a host looks for events to send.
  due_at bigint not null,
  -- Until then no host looks: another one sends, or the endpoint gets a pause.
  not_before bigint not null default 0,
  -- How often the endpoint was leased. It is the fencing token of the host that sends.
  leases bigint not null default 0,
  -- When and how the last attempt ended, and since when each has failed.
  last_at bigint,
  last_result text,
  failing_since bigint,
  created_at bigint not null
) {reference};

create index {prefix}webhook_endpoints_recipient on {prefix}webhook_endpoints (recipient_id);

create index {prefix}webhook_endpoints_due on {prefix}webhook_endpoints (due_at) where disabled_for is null;

-- Events that an endpoint has not accepted, and events that are sent to it again.
create table {prefix}webhook_retries (
  recipient_id {id} not null,
  endpoint_id {id} not null,
  event_id {id} not null,
  body text not null,
  attempts integer not null,
  first_at bigint not null,
  due_at bigint not null,
  last_result text,
  primary key (recipient_id, endpoint_id, event_id)
) {by recipient_id};

create index {prefix}webhook_retries_due on {prefix}webhook_retries (recipient_id, endpoint_id, due_at);
`
