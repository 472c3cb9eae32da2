import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const { cutPage, pageParameters, positionCursor, rangeOf, readCursor, readPositionCursor } = internals
const at = (position: number): { readonly position: number } => ({ position })
const cursorOf = (text: string): string => Buffer.from(text).toString('base64url')
const foreign = { ok: false, code: 'invalid_request', field: 'cursor' }

t.test('reads the cursor that the page before has given', async t => {
  t.same(readCursor(undefined), { ok: true, value: 0 })
  for (const position of [1, 20, 999_999_999_999_999]) {
    const { nextCursor } = cutPage([at(position), at(position + 1)], 1)
    t.same(readCursor(nextCursor!), { ok: true, value: position })
  }
})

t.test('denies every other cursor', async t => {
  const good = cursorOf('after:20')
  t.ok(readCursor(good).ok)
  for (const cursor of [
    '',
    good.slice(1),
    `${good}=`,
    `${good} `,
    ...['after:0', 'after:020', 'after:-1', 'after:1000000000000000', 'at:1:a', ' after:1', 'after:1x'].map(
      cursorOf,
    ),
  ])
    t.match(readCursor(cursor), foreign, cursor)
})

t.test('reads the cursor of a list of the issuer, and no other', async t => {
  t.same(readPositionCursor(undefined), { ok: true, value: {} })
  for (const after of [
    { at: 1, id: 'a' },
    { at: 1_767_225_600_000, id: `key_${'x'.repeat(60)}` },
  ])
    t.same(readPositionCursor(positionCursor(after)), { ok: true, value: { after } })
  for (const text of ['after:1', 'at:0:a', 'at:1:', 'at:1', 'at:1:a:b', `at:1:${'x'.repeat(65)}`, 'at:1:a b'])
    t.match(readPositionCursor(cursorOf(text)), foreign, text)
})

t.test('cuts a page of what was found', async t => {
  t.same(cutPage([], 2), { items: [], nextCursor: null })
  t.same(cutPage([at(5), at(4)], 2), { items: [at(5), at(4)], nextCursor: null })
  t.same(cutPage([at(5), at(4), at(3)], 2), { items: [at(5), at(4)], nextCursor: cursorOf('after:4') })
})

t.test('takes 1 to 100 items a page, by default 20', async t => {
  t.match(pageParameters().limit, { minimum: 1, maximum: 100, default: 20 })
  t.match(pageParameters(50, 10).limit, { minimum: 1, maximum: 50, default: 10 })
})

t.test('a range ends after it begins, and a date ends with its day', async t => {
  const day = Date.parse('2026-11-30T00:00:00Z')
  t.match(rangeOf({}), { ok: true, value: { from: undefined, to: undefined } })
  t.match(rangeOf({ from: '2026-11-30', to: '2026-11-30' }), {
    ok: true,
    value: { from: day, to: day + 86_400_000 },
  })
  const noon = '2026-11-30T12:00:00Z'
  t.match(rangeOf({ from: '2026-11-30T11:59:59.999Z', to: noon }), { ok: true })
  t.match(rangeOf({ from: noon, to: noon }), { ok: false, code: 'invalid_request', field: 'to' })
  t.match(rangeOf({ from: '2026-02-30' }), { ok: false, code: 'invalid_request', field: 'from' })
})
