// One refusal is the same problem in every form of its body: plain, in an envelope, and as a problem document (RFC 9457).
import { createClient, GatewrightError } from '@gatewright/client'
import * as user from '@gatewright/client/user'
import { denialResponse, wire } from '@gatewright/http'
import t from 'tap'
import { scriptedHost } from './scripted.ts'

/** What only one form has, beside the members that the type `Problem` names. */
const OF_FORM = ['ok', 'data', 'summary', 'errors', 'error', 'type', 'title', 'detail']

const refusals = [
  { code: 'unauthorized', status: 401 },
  { code: 'invalid_request', status: 400, field: 'authorization' },
  { code: 'insufficient_scope', status: 403, details: { scope: 'payments.write' } },
  {
    code: 'policy_blocked',
    status: 403,
    details: {
      rule: 'dailySpendCapCents',
      window: 'day',
      limit: 100,
      remaining: 40,
      requested: 60,
      resetsAt: null,
    },
  },
  { code: 'request_in_progress', status: 429, retryAfterSeconds: 2 },
  { code: 'idempotency_key_reused', status: 400, field: 'idempotency-key' },
  { code: 'rate_limited', status: 429, retryAfterSeconds: 7, details: { limit: 'perKey' } },
  { code: 'service_unavailable', status: 503, retryAfterSeconds: 1 },
  { code: 'a_code_of_a_later_version', status: 418, details: { why: 'tea' } },
] as const

for (const refusal of refusals)
  t.test(`${refusal.status} ${refusal.code}: the members are the same in each form`, async t => {
    const problems = []
    for (const shape of ['plain', 'partner', 'problem'] as const) {
      const { status, headers, body } = wire(denialResponse({ message: 'No, not now.', ...refusal }, shape))
      const host = scriptedHost(new Response(body, { status, headers: headers.map(([...pair]) => pair) }))
      const client = createClient({ ...host.options, credential: { token: 'tok' }, retries: 0 })
      const failed = await client.call(user.balancesRead).catch((error: unknown) => error)
      if (!(failed instanceof GatewrightError)) throw new Error('the call succeeded')
      const { body: sent, ...members } = failed.problem
      t.same(sent, JSON.parse(body), `${shape}: body is what the host sent`)
      problems.push(Object.fromEntries(Object.entries(members).filter(([name]) => !OF_FORM.includes(name))))
    }
    const [plain, partner, problem] = problems
    const { details = {}, ...members } = { details: undefined, ...refusal }
    const code = refusal.status === 418 ? 'unrecognized_response' : refusal.code
    t.same(plain, { ...members, ...details, code, message: 'No, not now.' })
    t.same(partner, plain)
    t.same(problem, plain)
  })
