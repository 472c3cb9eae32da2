import type { Equivalent } from './equivalent.ts'

const MODULES = 'packages/reference-host/src/modules'

const RETURNED = 'an async function that returns a promise resolves to its value'

/** The type of a quote demands these members; the example of the operation shows others. */
const UNSEEN_QUOTE: readonly Equivalent[] = ['deposits', 'withdrawals'].flatMap(name =>
  ['minAmountCents: 100,', 'maxAmountCents: 5_000_000,'].map(before => ({
    source: `${MODULES}/${name}/quotes.ts`,
    before,
    reason: 'the example shows no cents of its quote',
  })),
)

/** Mutations in the reference host that no test can notice. */
export const REFERENCE_HOST: readonly Equivalent[] = [
  {
    source: `${MODULES}/web-sign-in/cli-requests.ts`,
    before: "where token_digest = $1 and status = 'approved' and expires_at > $2 returning session`;",
    after: "where token_digest = $1 and status = 'approved' and expires_at >= $2 returning session`;",
    reason: 'the poll has compared the same end with the same time before',
  },
  {
    source: `${MODULES}/web-sign-in/cli-requests.ts`,
    before: "const expiresAt = toInteger(row?.['expires_at'] ?? 0);",
    after: "const expiresAt = toInteger(row?.['expires_at'] ?? 1);",
    reason: 'without a row the request is unknown, whatever this is',
  },
  {
    source: 'packages/host/src/http/credentials.ts',
    before: 'rules.set(operation, rule);',
    reason: 'remembers what is made again without it',
  },
  ...[
    "${sumOf('where a.account_id = $1 and a.id > $5 and a.id < $6')} as contracts`;",
    "${sumOf('where a.account_id = $1 and a.id >= $5 and a.id <= $6')} as contracts`;",
  ].map(after => ({
    source: 'packages/reference-host/src/modules/balances/user-money.ts',
    before: "${sumOf('where a.account_id = $1 and a.id >= $5 and a.id < $6')} as contracts`;",
    after,
    reason: 'no account has the name of a bound: a contract has an id, and a colon before it',
  })),
  {
    source: `${MODULES}/bills/store.ts`,
    before: 'return (await insert(tx, columns));',
    after: 'return (insert(tx, columns));',
    reason: RETURNED,
  },
  {
    source: `${MODULES}/contracts/store.ts`,
    before: 'return ((await contracts.insert(tx, columns)) ?? (await contracts.find(tx, accountId, id)));',
    after: 'return ((await contracts.insert(tx, columns)) ?? (contracts.find(tx, accountId, id)));',
    reason: RETURNED,
  },
  ...UNSEEN_QUOTE,
  ...[
    'const DECIDED_WITHIN_MS = 1800;',
    'const UNDO_PAUSES_MS = [1000, 5000, 30_000, 60_000, 120_000, 180_000, 204_000];',
  ].map(before => ({
    source: `${MODULES}/cards/authorizations/response-in-time.ts`,
    before,
    reason: 'a timer that ends a millisecond later cannot be distinguished',
  })),
  {
    source: `${MODULES}/cards/authorizations/network-increment.ts`,
    before: 'if (!card || !row)',
    reason: 'cards and authorizations are never deleted: both were found before',
  },
  {
    source: `${MODULES}/subscriptions/payins/expiry.ts`,
    before: "let position = { dueAt: 0, id: '' };",
    reason: 'no pay-in is due in the first millisecond of 1970',
  },
  {
    source: 'packages/host/src/http/list.ts',
    before:
      'const found = await rule.rows(accountId, { after: after.value, limit: limit + 1 }, { params, query: query });',
    after:
      'const found = await rule.rows(accountId, { after: after.value, limit: limit + 2 }, { params, query: query });',
    reason: 'reads a row more, which the page leaves out',
  },
]
