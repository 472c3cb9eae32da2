/**
 * The tables and functions of slices, for Postgres only. A slice is a part of one counter that one host has taken for the reservations
 * that it accepts. `used` and `held` of the counter contain the slice from the moment that it is taken. Therefore the plain functions
 * `spend_reserve` and `spend_resolve` need not know of slices, and whatever becomes of a host, no cap is exceeded.
 */
export const SLICE_DDL = `
-- free: what no reservation has taken. spent: what was settled through the slice, which the counter still counts as held.
-- When a slice ends, its free part leaves "used" of the counter, and both leave "held". No index but the key: "expires_at" and the
-- amounts change with every statement.
create table {prefix}spend_slices (
  account {id} not null,
  counter {id} not null,
  host {id} not null,
  free bigint not null check (free >= 0),
  spent bigint not null check (spent >= 0),
  expires_at bigint not null,
  primary key (account, counter, host)
) {by account};

-- Locks what reservations of p_need under p_cap change: the slice of the host if the cap is at least p_least, else the row of the counter.
-- A slice that is too small grows, and one that is too large shrinks: to p_need and p_share percent of what remains under the cap.
-- If the cap does not suffice, slices of other hosts are ended whose lease is over and which no statement uses.
-- used_here: what counts against the cap for this host, its own free part not included.
-- p_cap is null for a counter on which holds only end.
create function {prefix}spend_lock_counter(
  p_account text, p_host text, p_counter text, p_need bigint, p_cap bigint, p_until bigint, p_now bigint,
  p_least bigint, p_share bigint, p_lease bigint, out used_here bigint, out sliced boolean)
language plpgsql as $$
declare
  own bigint;
  room bigint;
  size bigint;
begin
  select s.free into own from {prefix}spend_slices s
    where s.account = p_account and s.counter = p_counter and s.host = p_host for update;
  if own is null and p_cap >= p_least then
    insert into {prefix}spend_slices values (p_account, p_counter, p_host, 0, 0, p_now + p_lease)
      on conflict (account, counter, host) do nothing;
    select s.free into strict own from {prefix}spend_slices s
      where s.account = p_account and s.counter = p_counter and s.host = p_host for update;
  end if;
  sliced := own is not null;
  own := coalesce(own, 0);
  if sliced then
    select c.used into used_here from {prefix}spend_counters c where c.account = p_account and c.counter = p_counter;
    room := p_cap - used_here + own;
    size := p_need + greatest(room - p_need, 0) * p_share / 100;
    if p_cap is null or (used_here is not null and room >= p_need and own between p_need and 2 * size - p_need) then
      used_here := used_here - own;
      return;
    end if;
  end if;
  select c.used into used_here from {prefix}spend_counters c
    where c.account = p_account and c.counter = p_counter for update;
  if p_cap is null then
    return;
  end if;
  if not found then
    insert into {prefix}spend_counters as c values (p_account, p_counter, 0, 0, p_until)
      on conflict (account, counter) do update set used = c.used returning c.used into used_here;
  end if;
  if used_here - own + p_need > p_cap then
    with ended as (
      delete from {prefix}spend_slices s using (
        select o.host from {prefix}spend_slices o
          where o.account = p_account and o.counter = p_counter and o.host <> p_host and o.expires_at <= p_now
          for update skip locked) expired
        where s.account = p_account and s.counter = p_counter and s.host = expired.host
        returning s.free, s.spent)
    update {prefix}spend_counters c set used = c.used - total.free, held = c.held - total.free - total.spent
      from (select coalesce(sum(free), 0)::bigint as free, coalesce(sum(spent), 0)::bigint as spent from ended) total
      where c.account = p_account and c.counter = p_counter
      returning c.used into used_here;
  end if;
  if sliced then
    room := greatest(p_cap - used_here + own, 0);
    size := least(p_need + greatest(room - p_need, 0) * p_share / 100, room);
    if size <> own then
      update {prefix}spend_counters c set used = c.used + size - own, held = c.held + size - own
        where c.account = p_account and c.counter = p_counter returning c.used into used_here;
      update {prefix}spend_slices s set free = size
        where s.account = p_account and s.counter = p_counter and s.host = p_host;
      own := size;
    end if;
  end if;
  used_here := used_here - own;
end $$;

-- Runs calls of one host on one account: first ends holds, p_ends is [[hold, actual]...], then reserves, p_reserves is
-- [[hold, [[counter, unit, amount, cap, expires_at]...], items as stored]...]. Returns an outcome for each call.
-- Statements of several hosts run at the same time: the lock excludes only the plain functions. Rows are locked in one order: holds that
-- exist, counters by name with the slice of the host before each, holds that are added.
create function {prefix}spend_by_slices(
  p_account text, p_host text, p_ends jsonb, p_reserves jsonb, p_now bigint, p_least bigint, p_share bigint, p_lease bigint)
returns text language plpgsql as $$
declare
  known jsonb;
  counter record;
  locked record;
  entry jsonb;
  item jsonb;
  kept jsonb;
  outcome jsonb;
  ends jsonb := '[]';
  reserves jsonb := '[]';
  place integer;
  index integer;
  amount bigint;
  stays bigint;
  names text[] := '{}';
  uses bigint[] := '{}';
  sliced boolean[] := '{}';
  until bigint[] := '{}';
  added bigint[] := '{}';
  settled bigint[] := '{}';
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('{prefix}spend:' || p_account, 0));
  select coalesce(jsonb_object_agg(h.hold, h.items), '{}') into known from (
    select hold, items from {prefix}spend_holds
      where account = p_account
        and hold = any (array(select value->>0 from jsonb_array_elements(p_ends || p_reserves)))
      order by hold for update) h;
  for counter in
    select name, least(sum(part), max(cap) + 1)::bigint as need, max(cap) as cap, max(ends_at) as ends_at from (
      select i.value->>0 as name, (i.value->>2)::bigint as part, (i.value->>3)::bigint as cap, (i.value->>4)::bigint as ends_at
        from jsonb_array_elements(p_reserves) r cross join jsonb_array_elements(r.value->1) i
      union all
      select i.value->>0, 0, null, null from jsonb_each(known) k cross join jsonb_array_elements(k.value) i) parts
    group by name order by name collate "C"
  loop
    names := names || counter.name;
    added := added || 0::bigint;
    settled := settled || 0::bigint;
    until := until || case when counter.cap is not null then least(p_now + p_lease, counter.ends_at) end;
    select * into locked from {prefix}spend_lock_counter(
      p_account, p_host, counter.name, counter.need, counter.cap, counter.ends_at, p_now, p_least, p_share, p_lease);
    uses := uses || locked.used_here;
    sliced := sliced || locked.sliced;
  end loop;
  for entry in select value from jsonb_array_elements(p_ends) loop
    kept := known->(entry->>0);
    outcome := '"gone"';
    if exists (select from jsonb_array_elements(kept) where value->>1 = 'cents' and (entry->>1)::bigint > (value->>2)::bigint) then
      outcome := '"exceeds"';
    elsif kept is not null then
      delete from {prefix}spend_holds where account = p_account and hold = entry->>0;
      if found then
        outcome := '"settled"';
        for item in select value from jsonb_array_elements(kept) loop
          place := array_position(names, item->>0);
          amount := (item->>2)::bigint;
          stays := case when entry->>1 is null then 0 when item->>1 = 'cents' and (entry->>1)::bigint >= 0 then (entry->>1)::bigint else amount end;
          added[place] := added[place] - amount + stays;
          settled[place] := settled[place] + stays;
        end loop;
      end if;
    end if;
    ends := ends || outcome;
  end loop;
  for entry in select value from jsonb_array_elements(p_reserves) loop
    kept := known->(entry->>0);
    outcome := null;
    index := 0;
    if kept is null then
      for item in select value from jsonb_array_elements(entry->1) loop
        place := array_position(names, item->>0);
        if uses[place] + added[place] + (item->>2)::bigint > (item->>3)::bigint then
          outcome := jsonb_build_array('over', index, uses[place] + added[place]);
          exit;
        end if;
        index := index + 1;
      end loop;
      if outcome is not null and entry->>0 is not null then
        -- The amount that is over may be the same reservation: by another call, since the holds were read.
        select items into kept from {prefix}spend_holds where account = p_account and hold = entry->>0;
        if found then
          outcome := null;
        end if;
      elsif entry->>0 is not null then
        insert into {prefix}spend_holds values (p_account, entry->>0, entry->2, p_now) on conflict (account, hold) do nothing;
        if not found then
          -- Another host has reserved with this id since the holds were read.
          select items into strict kept from {prefix}spend_holds where account = p_account and hold = entry->>0;
        end if;
      end if;
    end if;
    if kept <> entry->2 then
      outcome := '["conflict"]';
    end if;
    if outcome is null then
      outcome := '[]';
      for item in select value from jsonb_array_elements(entry->1) loop
        place := array_position(names, item->>0);
        if kept is null then
          added[place] := added[place] + (item->>2)::bigint;
          if entry->>0 is null then
            settled[place] := settled[place] + (item->>2)::bigint;
          end if;
        end if;
        outcome := outcome || to_jsonb(uses[place] + added[place]);
      end loop;
      outcome := jsonb_build_array('held', outcome);
    end if;
    reserves := reserves || jsonb_build_array(outcome);
  end loop;
  update {prefix}spend_slices s
    set free = s.free - n.added, spent = s.spent + n.settled, expires_at = coalesce(n.until, s.expires_at)
    from unnest(names, added, settled, until, sliced) as n(name, added, settled, until, sliced)
    where n.sliced and s.account = p_account and s.counter = n.name and s.host = p_host;
  update {prefix}spend_counters c set used = c.used + n.added, held = c.held + n.added - n.settled
    from unnest(names, added, settled, sliced) as n(name, added, settled, sliced)
    where not n.sliced and c.account = p_account and c.counter = n.name;
  return jsonb_build_array(ends, reserves)::text;
end $$;

-- Ends up to p_limit slices whose lease is over, and returns how many. It waits for no lock: what a statement uses stays.
create function {prefix}spend_end_slices(p_limit bigint, p_now bigint)
returns integer language plpgsql as $$
declare
  slice record;
  ended integer := 0;
begin
  for slice in
    select * from {prefix}spend_slices where expires_at <= p_now limit p_limit for update skip locked
  loop
    perform from {prefix}spend_counters
      where account = slice.account and counter = slice.counter for update skip locked;
    continue when not found and exists (
      select from {prefix}spend_counters where account = slice.account and counter = slice.counter);
    update {prefix}spend_counters set used = used - slice.free, held = held - slice.free - slice.spent
      where account = slice.account and counter = slice.counter;
    delete from {prefix}spend_slices
      where account = slice.account and counter = slice.counter and host = slice.host;
    ended := ended + 1;
  end loop;
  return ended;
end $$;
`
