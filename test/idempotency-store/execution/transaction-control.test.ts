// Postgres runs the same texts in transactional.postgres.test.ts.
import t from 'tap'
import { CONTROLLING_TEXTS, SINGLE_STATEMENTS } from '../transaction-texts.ts'
import { controlsTransaction } from '#packages/idempotency-store/dist/execution/transaction-control.js'

t.test('finds texts that begin or end a transaction, or have several statements', async t => {
  for (const text of [
    ...CONTROLLING_TEXTS,
    ';commit',
    'select 1;select 2;',
    // Without the second quote, the rest of the text is no literal in Postgres either.
    "select 'a' ; select '",
    'select 1 /* a */; /* b */ select 2',
    'select /* /* a */ b */ 1; commit',
    'select $a$ $b$ $a$; commit',
    "select e'\\''; commit",
    // Two statements only where a backslash escapes a quote.
    "select 'a\\''; commit --'",
    'prepare transaction $$a;b$$',
    'abort;',
    'rollback to_nowhere',
  ])
    t.equal(controlsTransaction(text), true, text)
})

t.test('accepts one statement with semicolons in texts, names and comments, and savepoints', async t => {
  for (const text of [
    ...SINGLE_STATEMENTS,
    'select 1',
    'savepoint a',
    'rollback to savepoint a;',
    ';',
    '',
    'select beginning, ending from commits;',
    // The server rejects these, but they have no second statement.
    "select 'a; b",
    "select E'\\'; b",
    'select $a$ ; b',
    'select "a; b',
    'select 1 /* ; /* */ ; b',
    'select 1 /* ;',
    "select 1 -- it's;",
    "select '' ';'",
  ])
    t.equal(controlsTransaction(text), false, text)
})
