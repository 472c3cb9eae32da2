import type { Equivalent } from './equivalent.ts'

const MODULES = 'packages/reference-host/src/modules'

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
    source: 'packages/host/src/http/credentials/credentials.ts',
    before: 'rules.set(operation, rule);',
    reason: 'remembers what is made again without it',
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
    source: 'packages/host/src/http/operations/list.ts',
    before: 'const found = await rule.rows(accountId, { ...place.value, limit: query.limit + 1 }, call);',
    after: 'const found = await rule.rows(accountId, { ...place.value, limit: query.limit + 2 }, call);',
    reason: 'reads a row more, which the page leaves out',
  },
  {
    source: `${MODULES}/payments/operations.ts`,
    before: 'await events.record(tx, { ...event, isFirst: true }, now);',
    after: 'await events.record(tx, { ...event, isFirst: false }, now);',
    reason: 'says that no number of an event has to be found: the one that is found is the same',
  },
]
