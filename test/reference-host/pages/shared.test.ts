import t from 'tap'
import { shortened } from '../../../packages/reference-host/browser/shared/address.ts'
import { sentence, type Problem } from '../../../packages/reference-host/browser/shared/api.ts'
import { counted } from '../../../packages/reference-host/browser/shared/counted.ts'
import { money, parseMoney } from '../../../packages/reference-host/browser/shared/money.ts'
import { fromNow, utc } from '../../../packages/reference-host/browser/shared/time.ts'
import { timeRange } from '../../../packages/reference-host/browser/operator/times.ts'
import { capNote, higherNote } from '../../../packages/reference-host/browser/helper/key/limit-fields.ts'

t.test('writes and reads money without rounding', async t => {
  t.equal(money(123_456_789), '1,234,567.89')
  t.equal(money(-5), '−0.05')
  const typed = {
    '12': 1200,
    '12.5': 1250,
    '$1,234.56': 123_456,
    '0': 0,
    '0.07': 7,
    '1000000000': 1e11,
    '1 000 000': 1e8,
    '1,000,000,000.00': 1e11,
    ' $ 5 ': 500,
  }
  for (const [text, cents] of Object.entries(typed)) t.equal(parseMoney(text), cents, text)
  for (const text of ['', '-1', '1.234', '1e3', '.5', 'ten', '1000000000.01', '$', '5$'])
    t.equal(parseMoney(text), undefined, text)
  for (const text of ['12,50', '0,99', '5,5', '1,2345', '12,34,567', '1234,567', ',500', '1.234,50', '1 23'])
    t.equal(parseMoney(text), undefined, `a comma is no decimal point: ${text}`)
})

t.test('writes times as people read them', async t => {
  const now = Date.parse('2026-01-02T03:04:05Z')
  t.equal(utc(now), '2026-01-02 03:04:05 UTC')
  t.equal(fromNow(now - 30_000, now), 'just now')
  t.equal(fromNow(now + 30_000, now), 'in less than a minute')
  t.equal(fromNow(now - 3 * 60_000, now), '3 minutes ago')
  t.equal(fromNow(now + 49 * 3_600_000, now), 'in 2 days')
})

t.test('writes a number with its noun', async t => {
  t.same(
    [0, 1, 2].map(count => counted(count, 'scope')),
    ['0 scopes', '1 scope', '2 scopes'],
  )
})

t.test('a plot of a host that has just started shows the hour before its only time', async t => {
  t.same(timeRange([7200]), [3600, 7200])
  t.same(timeRange([0, 300]), [-3300, 300])
  t.same(timeRange([0, 86_400]), [0, 86_400])
})

t.test('says that a cap above the cap per day never applies', async t => {
  t.match(capNote('withdrawals', 901, 900), /limit per day, which applies first/)
  t.equal(capNote('withdrawals', 900, 900), '')
  t.match(capNote('each', 901, 900), /limit per day/)
  t.equal(capNote('day', 901, 900), '')
  t.equal(capNote('month', 901, 900), '', 'a month has more than one day')
  t.equal(capNote('each', undefined, 900), '')
  t.equal(capNote('each', 901, undefined), '')
})

t.test('says that a new limit which is not lower than what binds changes nothing', async t => {
  t.match(higherNote(500, 500), /changes nothing/)
  t.equal(higherNote(499, 500), '')
  t.equal(higherNote(499, undefined), '')
  t.equal(higherNote(undefined, 500), '')
})

t.test('shortens addresses and ids', async t => {
  t.equal(shortened(`0x1234${'0'.repeat(32)}abcd`), '0x1234…abcd')
  t.equal(shortened('key_1234'), 'key_1234')
})

t.test('says what went wrong and what helps', async t => {
  const problem = (status: number, retryAfterSeconds: number | null = null): Problem => ({
    status,
    code: 'x',
    message: 'scopes has an unknown scope',
    requestId: null,
    retryAfterSeconds,
  })
  t.match(sentence(problem(0)), /did not respond/)
  t.match(sentence(problem(429, 1)), /Try again in 1 second\./)
  t.match(sentence(problem(503)), /Try again in a moment\./)
  t.match(sentence(problem(500)), /request id/)
  t.equal(sentence(problem(400)), 'The host refused: scopes has an unknown scope.')
})
