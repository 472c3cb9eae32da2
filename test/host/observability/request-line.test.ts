import t from 'tap'
import { requestLine } from '#packages/host/dist/observability/request-line.js'

const line = (members: object, colors = false, width = 0): string =>
  requestLine(JSON.stringify({ level: 30, time: '2026-11-23T17:13:22.000Z', ...members }), { colors, width })

t.test('shows a request in one line, and of a denial the rule and the start of the request id', t => {
  const at = new Date('2026-11-23T17:13:22.000Z').toTimeString().slice(0, 8)
  const request = { method: 'POST', route: '/user/v1/payments', status: 200, durationMs: 23.6 }
  t.equal(line(request), `${at}  POST   /user/v1/payments             200   24 ms\n`)
  const denied = { ...request, status: 403, code: 'policy_blocked', requestId: '0ffe0345-aaaa' }
  t.match(
    line({ ...denied, rule: 'dailySpendCapCents' }),
    /403 {3}24 ms {2}dailySpendCapCents {2}0ffe0345\n$/,
  )
  t.match(
    line({ ...denied, route: undefined, operation: 'payments.create' }),
    /POST {3}payments\.create .*policy_blocked/,
  )
  t.ok(line(request, true).includes('\u001b[32m200\u001b[0m'), 'in colour')
  t.end()
})

t.test('puts the reason of a denial below the request where the terminal is too narrow', t => {
  const denied = {
    method: 'POST',
    route: '/user/v1/subscriptions/payin',
    status: 403,
    durationMs: 6,
    rule: 'dailySpendCapCents',
    requestId: '4ec852e1-aaaa',
  }
  const id = '\u001b[2m4ec852e1\u001b[0m\n'
  t.ok(line(denied, true, 88).endsWith(` ms  dailySpendCapCents  ${id}`), 'colours take no columns')
  t.ok(line(denied, true, 87).endsWith(` ms\n${' '.repeat(10)}dailySpendCapCents  ${id}`))
  t.end()
})

t.test('shows what failed with its stack, other messages as they are, and a line that is no JSON', t => {
  const failure = {
    message: 'store down',
    stack: 'Fault: store down\n    at x',
    cause: 'Error: ECONNREFUSED',
  }
  t.match(
    line({ method: 'GET', status: 503, code: 'service_unavailable', failure }),
    /503[^]*Fault: store down\n {4}at x\n {2}caused by Error: ECONNREFUSED\n$/,
  )
  t.match(line({ level: 40, msg: 'Redis is away' }), /^\d\d:\d\d:\d\d {2}Redis is away\n$/)
  t.match(
    line({ level: 50, msg: 'a\u001b[2J', failure: { message: 'b\u202e\u009bc' } }),
    '  a\\u001b[2J\nb\\u202e\\u009bc\n',
  )
  t.equal(requestLine('no json\n', { colors: false, width: 80 }), 'no json\n')
  t.end()
})
