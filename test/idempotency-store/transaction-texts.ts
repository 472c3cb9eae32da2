/** Texts that begin or end a transaction, or have several statements. */
export const CONTROLLING_TEXTS: readonly string[] = [
  'commit',
  ' ROLLBACK',
  'begin',
  '-- done\n/* now */ commit',
  'End transaction',
  'start transaction',
  'select 1; commit',
  "select ';' ; /* ; */ -- ;\n ; rollback",
  'select $$;$$ as a, $tag$ $$ ; $tag$ as b;commit;',
  "select E'\\';'; commit --'",
  '; commit',
  "select U&'\\';commit;select ''",
  'select /* /* ; */ */ 1;commit',
]

/** Texts of one statement that are no transaction control, though they have semicolons. */
export const SINGLE_STATEMENTS: readonly string[] = [
  'select 1;',
  'select 1 ; ; -- done; commit\n',
  "select 'a;b' as x, 'it''s; fine' as y",
  "select E'a\\';b' as x",
  "select 'a\\' as x",
  'select 1 as "a;""b;"',
  'select $$a;b$$ as x, $t$ $$;$$ $t$ as y',
  'select 1 /* ; /* nested ; */ ; */ as x -- ;',
  'do $do$ begin perform 1; perform 2; end $do$',
  'select a$b from (select 1 as a$b) as t',
]
