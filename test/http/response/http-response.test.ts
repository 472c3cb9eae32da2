import { denialResponse, errorResponse, faultResponse } from '@gatewright/http'
import { Fault } from '@gatewright/kernel'
import t from 'tap'

const denial = {
  code: 'policy_blocked',
  status: 403,
  message: 'no',
  field: 'amountCents',
  details: { rule: 'cap' },
  reason: 'only for the event',
}

t.test(
  'renders a denial as error and message, with its field and details, and without its reason',
  async t => {
    t.same(denialResponse(denial, 'plain'), {
      status: 403,
      headers: [],
      body: { error: 'policy_blocked', message: 'no', field: 'amountCents', rule: 'cap' },
    })
  },
)

t.test('adds the partner envelope to the same object', async t => {
  t.same(denialResponse(denial, 'partner').body, {
    error: 'policy_blocked',
    message: 'no',
    field: 'amountCents',
    rule: 'cap',
    ok: false,
    data: {},
    summary: 'no',
    errors: [{ error: 'policy_blocked', code: 'policy_blocked', message: 'no', field: 'amountCents' }],
  })
})

t.test('rounds Retry-After up to whole seconds, and keeps that of the denial', async t => {
  const late = { code: 'rate_limited', status: 429, message: 'later', retryAfterSeconds: 0.2 }
  t.same(denialResponse(late, 'plain').headers, [['Retry-After', '1']])
  const given = { ...late, headers: [['retry-after', '9']] as const }
  t.same(denialResponse(given, 'plain').headers, [['retry-after', '9']])
})

t.test('adds a challenge to every 401', async t => {
  const bare = { code: 'unauthorized', status: 401, message: 'who?' }
  t.same(denialResponse(bare, 'plain').headers, [['WWW-Authenticate', 'Bearer']])
  const own = { ...bare, headers: [['WWW-Authenticate', 'Bearer realm="x"']] as const }
  t.same(denialResponse(own, 'plain').headers, [['WWW-Authenticate', 'Bearer realm="x"']])
})

t.test('does not send the message of a fault or an error', async t => {
  const fault = new Fault('ERR_STORE_UNAVAILABLE', 'secret detail', { retryAfterSeconds: 7 })
  const response = faultResponse(fault, 'plain')
  t.match(response, { status: 503, headers: [['Retry-After', '7']], body: { error: 'service_unavailable' } })
  t.notMatch(JSON.stringify(response), /secret/)
  t.match(errorResponse('partner'), { status: 500, body: { error: 'internal_error', ok: false } })
})
