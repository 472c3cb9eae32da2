import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const { ignoredNames, requestTimeLimit, targetDenial, unknownMember } = internals
const text = { type: 'string' }
const query = { type: 'object', properties: { limit: text, cursor: text } } as never
const body = { type: 'object', properties: { name: text } } as never
const document = { method: 'GET', surface: 'public' } as const
const search = (text: string): URLSearchParams => new URLSearchParams(text)

t.test('finds nothing under a path parameter that is no id', async t => {
  const check = (...ids: string[]): string | undefined =>
    targetDenial(document, Object.fromEntries(ids.entries()), search(''))?.code
  t.same([check(), check('!'), check('~'.repeat(120)), check('a', 'b')], Array(4).fill(undefined))
  for (const ids of [['a b'], ['x'.repeat(121)], ['\u00e9'], ['a', ' '], [' ', 'a']])
    t.equal(check(...ids), 'not_found', ids.join())
})

t.test('denies a call of a tool without a path parameter, which it names', async t => {
  for (const params of [{ cardId: '' }, { id: 'a', cardId: '' }])
    t.match(targetDenial(document, params, search('')), { code: 'invalid_request', field: 'cardId' })
})

t.test('denies a query parameter that is not well-formed text', async t => {
  const check = (text: string, more: object = {}) =>
    targetDenial({ ...document, query, ...more }, {}, search(text))
  for (const text of ['', 'limit=5', 'limit=5&cursor=%C3%A9', 'other=%FF', 'limit='])
    t.equal(check(text), undefined, text)
  for (const [text, field] of [
    ['limit=%FF', 'limit'],
    ['limit=5&cursor=%00', 'cursor'],
    ['limit=5&limit=e%CC%81', 'limit'],
  ] as const)
    t.match(check(text), { code: 'invalid_request', field }, text)
  t.equal(check('limit=5&other=1', { unknownMembers: 'list' }), undefined)
  t.match(check('limit=5&other=1', { unknownMembers: 'deny' }), { code: 'invalid_request', field: 'other' })
  t.equal(check('limit=5', { unknownMembers: 'deny' }), undefined)
})

t.test('describes the first unknown member where the operation denies them', async t => {
  t.equal(unknownMember({ body }, { other: 1 }), undefined)
  t.equal(unknownMember({ body, unknownMembers: 'deny' }, { name: 'a' }), undefined)
  t.match(unknownMember({ body, unknownMembers: 'deny' }, { other: 1, more: 2 }), { path: ['other'] })
})

t.test('lists at most 20 names of body and query as ignored', async t => {
  const unknown = (count: number, prefix: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, '1']))
  const listed = (ofBody: number, ofQuery: number): number =>
    ignoredNames({ body, query }, unknown(ofBody, 'b'), new URLSearchParams(unknown(ofQuery, 'q'))).length
  t.same(
    [listed(0, 0), listed(20, 0), listed(21, 0), listed(0, 20), listed(0, 21), listed(15, 5), listed(15, 9)],
    [0, 20, 20, 20, 20, 20, 20],
  )
  t.same([listed(19, 0), listed(0, 19), listed(10, 9)], [19, 19, 19])
  t.same(ignoredNames({ body, query }, { name: 'a', x: 1 }, search('limit=1&y=2&y=3&x=4')), ['x', 'y'])
})

t.test('closes connections whose request takes too long, checked every second', async t => {
  t.same(requestTimeLimit(30_000), {
    requestTimeout: 30_000,
    headersTimeout: 30_000,
    connectionsCheckingInterval: 1000,
  })
})
