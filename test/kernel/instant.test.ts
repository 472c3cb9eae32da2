import { parseInstant } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { dateTime } from '../signature-verifier/arbitraries.ts'

t.test('reads what RFC 3339 allows, to the millisecond', async t => {
  const cases: [string, string][] = [
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.1Z', '2026-01-01T00:00:00.100Z'],
    ['2026-01-01T00:00:00.12Z', '2026-01-01T00:00:00.120Z'],
    ['2026-01-01T00:00:00.999999999Z', '2026-01-01T00:00:00.999Z'],
    ['2026-01-01T00:00:00.5+02:30', '2025-12-31T21:30:00.500Z'],
    ['2026-01-01T00:00:00-23:59', '2026-01-01T23:59:00.000Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0050-03-01T00:00:00Z', '0050-03-01T00:00:00.000Z'],
    ['0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.25z', '2026-01-01T00:00:00.250Z'],
    ['2026-01-01t00:00:00+00:00', '2026-01-01T00:00:00.000Z'],
    [`2026-01-01T00:00:00.123${'9'.repeat(1000)}Z`, '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T00:00:00.1234567890123+02:00', '2025-12-31T22:00:00.123Z'],
    // The examples of RFC 3339 section 5.8. A leap second is the instant after it.
    ['1985-04-12T23:20:50.52Z', '1985-04-12T23:20:50.520Z'],
    ['1996-12-19T16:39:57-08:00', '1996-12-20T00:39:57.000Z'],
    ['1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
    ['1990-12-31T23:59:60.5Z', '1991-01-01T00:00:00.000Z'],
    ['0050-12-31T23:59:60Z', '0051-01-01T00:00:00.000Z'],
    ['1937-01-01T12:00:27.87+00:20', '1937-01-01T11:40:27.870Z'],
  ]
  for (const [text, expected] of cases) t.equal(parseInstant(text), Date.parse(expected), text)
})

t.test('rejects texts that RFC 3339 does not allow', async t => {
  const cases = [
    '',
    '2026',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00,5Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',

    '2026-01-01T00:60:00Z',
    '2016-12-30T23:59:60Z',
    '2016-12-31T23:59:61Z',
    '2016-12-31T23:59:60+01:00',
    '2016-12-31T00:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',

    '2026-01-01T00:00:00+0000',
    '2026-01-01T00:00:00+00',
    '+002026-01-01T00:00:00Z',
    '26-01-01T00:00:00Z',

    '2026-01-01T00:00:00 00:00',
    '2026-01-01T00:00:00.1a',
    '2026-01-01T00:00:00.1',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '２026-01-01T00:00:00Z',
  ]
  for (const text of cases) t.equal(parseInstant(text), undefined, encodeURIComponent(text))
})

t.test('law: agrees with Date on every date-time with up to three digits of fraction', async t => {
  fc.assert(
    fc.property(dateTime, text => parseInstant(text) === Date.parse(text.replace(/(\.\d{3})\d+/, '$1'))),
  )
  t.pass('on all')
})

t.test('accepts exactly the days that the calendar has', t => {
  const isDay = (year: number, month: number, day: number): boolean => {
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  }
  const two = (value: number): string => String(value).padStart(2, '0')
  const accepts = (year: number, month: number, day: number): boolean =>
    parseInstant(`${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T00:00:00Z`) !== undefined
  const wrong: string[] = []
  const compare = (year: number, month: number, day: number): void => {
    if (accepts(year, month, day) !== isDay(year, month, day)) wrong.push(`${year}-${month}-${day}`)
  }
  for (let month = 1; month <= 12; month++)
    for (let day = 1; day <= 32; day++) for (const year of [2023, 2024]) compare(year, month, day)
  for (let year = 0; year <= 9999; year++) compare(year, 2, 29)
  t.same(wrong, [])
  t.end()
})

t.test('reads the longest date-time, and nothing that is no text', t => {
  const text = '2026-01-01T00:00:00.123456789+00:00'
  t.equal(parseInstant(text), Date.parse('2026-01-01T00:00:00.123Z'))
  for (const wrong of [7, null, undefined, {}, [text]]) t.equal(parseInstant(wrong), undefined)
  t.end()
})
