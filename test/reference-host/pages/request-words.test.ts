import t from 'tap'
import { errorCodes, ruleMeanings } from '#packages/reference-host/dist/product/errors.js'
import { groupRefusals } from '../../../packages/reference-host/browser/helper/console/requests/request-groups.ts'
import type { KeptRequest } from '../../../packages/reference-host/browser/helper/console/wire.ts'
import {
  reasonWords,
  requestTitle,
  resultWords,
  RULE_WORDS,
} from '../../../packages/reference-host/browser/shared/request-words.ts'

const allowed = {
  id: '1',
  createdAt: '2026-11-28T11:31:24.000Z',
  method: 'POST',
  operation: 'subscriptions.payin',
  title: 'Create a pay-in',
  keyId: 'agent-travel',
  sessionId: null,
  status: 200,
  error: null,
  rule: null,
  message: null,
  field: null,
  policyKeyId: null,
  details: null,
  byTool: false,
  durationMs: 1,
} satisfies KeptRequest
const refused: KeptRequest = {
  ...allowed,
  status: 403,
  error: 'policy_blocked',
  rule: 'dailySpendCapCents',
  details: { unit: 'cents', requested: 1163, remaining: 9 },
}

t.test('titles and badges of requests are words of people', async t => {
  t.equal(requestTitle(refused), 'Pay-in of 11.63 USD')
  t.equal(resultWords(refused), 'Refused · daily limit')
  t.equal(requestTitle(allowed), 'Pay-in')
  t.equal(resultWords(allowed), 'Allowed')
  const payment = { ...allowed, operation: 'payments.create', title: 'Pay another wallet user of this host' }
  const low = { availableCents: 100, requestedCents: 99_999_999 }
  t.equal(requestTitle({ ...payment, status: 400, details: low }), 'Payment of 999,999.99 USD')
  const tooLow = { status: 400, error: 'insufficient_balance', rule: null, details: low }
  t.equal(resultWords(tooLow), 'Refused · balance too low')
  const monthly = { ...refused, rule: 'limits', details: { unit: 'cents', window: 'month', requested: 5 } }
  t.equal(resultWords(monthly), 'Refused · monthly limit')
  const often = { ...refused, rule: 'limits', details: { unit: 'count', window: 'day', requested: 1 } }
  t.equal(requestTitle(often), 'Pay-in', 'a number of times is no amount')
  t.equal(resultWords({ ...refused, status: 429, error: 'rate_limited', rule: null }), 'Rate limited')
  t.equal(
    resultWords({ ...refused, status: 503, error: 'service_unavailable', rule: null }),
    'Failed · service unavailable',
  )
  t.equal(requestTitle({ ...allowed, operation: 'cards.change', title: 'Change a card' }), 'Change a card')
})

t.test('every rule and every code has words without program names', async t => {
  t.same(Object.keys(RULE_WORDS).toSorted(), Object.keys(ruleMeanings).toSorted())
  const words = [
    ...Object.keys(ruleMeanings).map(rule => reasonWords({ rule, error: 'policy_blocked', details: null })),
    ...Object.keys(errorCodes).map(error => reasonWords({ rule: null, error, details: null })),
  ]
  t.same(
    words.filter(text => /_|[a-z][A-Z]|^$/.test(text)),
    [],
  )
})

t.test('equal refusals of a day are one group, at the place of the newest', async t => {
  // Every member of a request that makes it another refusal, with two values each.
  const changes: readonly Partial<KeptRequest>[] = [
    {},
    { keyId: 'agent-shopping' },
    { operation: 'payments.create' },
    { rule: 'limits' },
    { rule: null, error: 'insufficient_scope' },
    { field: 'amountCents' },
    { status: 429 },
    { createdAt: '2026-11-27T23:59:59.999Z' },
  ]
  const requests = Array.from({ length: 3 }, (_, round) =>
    changes.map((change, place): KeptRequest => ({ ...refused, ...change, id: `${round}-${place}` })),
  ).flat()
  const groups = groupRefusals(requests)
  t.same(
    groups.map(group => group.requests.map(({ id }) => id)),
    changes.map((_, place) => [0, 1, 2].map(round => `${round}-${place}`)),
  )
  t.equal(new Set(groups.map(({ name }) => name)).size, changes.length)
  const amounts = [1010, 1163].map(requested => ({ ...refused, details: { unit: 'cents', requested } }))
  t.equal(groupRefusals(amounts).length, 1, 'amounts may differ')
  const twice = [allowed, { ...allowed, id: '2' }]
  t.equal(groupRefusals(twice).length, 2, 'what succeeded is not put together')
  t.same(
    groupRefusals(groups.slice(0, 2).flatMap(group => group.requests)).map(({ name }) => name),
    groups.slice(0, 2).map(({ name }) => name),
    'names stay',
  )
})
