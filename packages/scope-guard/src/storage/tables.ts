import { SLICE_DDL } from './slice-tables.ts'

/** The DDL of the tables of this package, for `migrate` of the kernel. It is code and not a file, so that it is part of a bundle. */
export const DDL: string = `-- version 1
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

-- postgres with all features only
-- Reservations of one account run one after the other: the lock is taken before any statement reads a counter.
create function {prefix}spend_reserve(p_account text, p_hold text, p_items jsonb, p_kept jsonb, p_now bigint)
returns text language plpgsql as $$
declare
  item jsonb;
  kept jsonb;
  place integer := 0;
  have bigint;
  after jsonb := '[]';
begin
  perform pg_advisory_xact_lock(hashtextextended('{prefix}spend:' || p_account, 0));
  select items into kept from {prefix}spend_holds where account = p_account and hold = p_hold;
  if found and kept <> p_kept then
    return '["conflict"]';
  end if;
  if not found then
    for item in select value from jsonb_array_elements(p_items) with ordinality as t(value, n) order by n loop
      select used into have from {prefix}spend_counters where account = p_account and counter = item->>0;
      have := coalesce(have, 0);
      if have + (item->>1)::bigint > (item->>2)::bigint then
        return jsonb_build_array('over', place, have)::text;
      end if;
      place := place + 1;
    end loop;
    insert into {prefix}spend_counters as c (account, counter, used, held, expires_at)
      select p_account, value->>0, (value->>1)::bigint, case when p_hold is null then 0 else (value->>1)::bigint end,
        (value->>3)::bigint
      from jsonb_array_elements(p_items)
      on conflict (account, counter) do update set used = c.used + excluded.used, held = c.held + excluded.held;
    if p_hold is not null then
      insert into {prefix}spend_holds (account, hold, items, held_at) values (p_account, p_hold, p_kept, p_now);
    end if;
  end if;
  for item in select value from jsonb_array_elements(p_items) with ordinality as t(value, n) order by n loop
    select used into have from {prefix}spend_counters where account = p_account and counter = item->>0;
    after := after || to_jsonb(coalesce(have, 0));
  end loop;
  return jsonb_build_array('held', after)::text;
end $$;

create function {prefix}spend_resolve(p_account text, p_hold text, p_actual bigint)
returns text language plpgsql as $$
declare
  kept jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('{prefix}spend:' || p_account, 0));
  select items into kept from {prefix}spend_holds where account = p_account and hold = p_hold;
  if not found then
    return 'gone';
  end if;
  if exists (select from jsonb_array_elements(kept) where value->>1 = 'cents' and p_actual > (value->>2)::bigint) then
    return 'exceeds';
  end if;
  update {prefix}spend_counters c
    set held = c.held - (part.value->>2)::bigint,
      used = c.used - (part.value->>2)::bigint
      + case when p_actual is null then 0 when part.value->>1 = 'cents' and p_actual >= 0 then p_actual else (part.value->>2)::bigint end
    from jsonb_array_elements(kept) part
    where c.account = p_account and c.counter = part.value->>0;
  delete from {prefix}spend_holds where account = p_account and hold = p_hold;
  return 'settled';
end $$;
${SLICE_DDL}-- both
`
