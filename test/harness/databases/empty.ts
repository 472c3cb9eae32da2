/** Deletes all rows but those that say how far the schema is migrated, without triggers and foreign keys. Sequences begin again. */
export const EMPTY = `do $$ declare found record; begin
  perform set_config('session_replication_role', 'replica', true);
  for found in select oid, relname, relkind from pg_class where relnamespace = current_schema()::regnamespace loop
    if found.relkind = 'S' then perform setval(found.oid::regclass, 1, false);
    elsif found.relkind in ('r', 'p') and found.relname <> 'gw_migrations' then execute format('delete from %I', found.relname);
    end if;
  end loop;
end $$`
