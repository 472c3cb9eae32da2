// What the preflight of a browser allows. A preflight asks for every field of a request that is not safelisted
// (https://fetch.spec.whatwg.org/#cors-safelisted-request-header), and one that is missing fails the whole request.
import t from 'tap'
import { openTestHost } from '../../harness/host.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })

/** The fields of a request that a preflight for it does not allow. */
async function refusedFields(path: string, fields: readonly string[]): Promise<string[]> {
  const response = await fetch(host.url + path, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': fields.toSorted().join(','),
    },
  })
  t.equal(response.status, 204)
  t.equal(response.headers.get('access-control-allow-origin'), '*')
  const allowed = (response.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/\s*,\s*/)
  return fields.filter(field => !allowed.includes(field))
}

/** Who puts which fields into the requests of a page. */
const SENDERS: Readonly<Record<string, readonly string[]>> = {
  'a client of this API': [
    'authorization',
    'content-type',
    'idempotency-key',
    'x-user-key',
    'x-consumer-key',
  ],
  'a client that binds its tokens': ['authorization', 'dpop'],
  'a client of Open Responses': ['x-open-responses', 'x-open-responses-call-id'],
  'OpenTelemetry in the page': ['traceparent', 'tracestate', 'baggage'],
  'Sentry in the page': ['sentry-trace', 'baggage'],
  'a client that names its requests': ['x-request-id'],
  'axios or jQuery': ['x-requested-with'],
  'a client that reads no cached response': ['cache-control', 'pragma'],
  'a client that caches by itself': ['if-none-match'],
}

t.test('a preflight allows the fields that clients, HTTP libraries and instrumentation send', async t => {
  for (const path of [
    '/user/v1/transactions',
    '/partner/v1/transactions',
    '/auth/challenge',
    '/openapi.json',
  ])
    for (const [sender, fields] of Object.entries(SENDERS))
      t.same(await refusedFields(path, fields), [], `${sender}: ${path}`)
})

t.test('a preflight does not allow the partner key, which must never be in a browser', async t => {
  for (const path of ['/partner/v1/sessions', '/partner/v1/events'])
    t.same(await refusedFields(path, ['x-partner-key']), ['x-partner-key'], path)
})

t.test('a page may read the tag of a document and the name of a file', async t => {
  const { headers } = await fetch(`${host.url}/openapi.json`, { headers: { origin: 'https://app.example' } })
  t.ok(headers.get('etag'))
  const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? []
  for (const field of ['ETag', 'Content-Disposition', 'X-Request-Id', 'Retry-After', 'DPoP-Nonce'])
    t.ok(exposed.includes(field), field)
})
