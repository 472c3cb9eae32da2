// What a host answers to credentials as they come over the wire: 401 without an error code where there is none, 400 `invalid_request` for a
// malformed one (RFC 6750 section 3.1), 401 `invalid_token` for one that is well formed and wrong.
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { bootstrapUser, startTestHost } from '../../harness/host.ts'
import { webToken } from '../../reference-host/harness/web-sign-in.ts'
import { randomCases } from '../../harness/random-cases.ts'

const host = await startTestHost({ RATE_LIMITS: 'off' })
t.teardown(() => host.close())
const { token: session } = await bootstrapUser(host.send)
const web = await webToken(host.send)
const port = Number(new URL(host.url).port)

interface Answer {
  readonly status: number
  /** The error code of the challenge. */
  readonly error: string | undefined
  readonly text: string
}

/** Sends a request with fields as they are, bytes of Latin-1, on a connection of its own. */
async function send(method: string, path: string, fields: readonly string[]): Promise<Answer> {
  const socket = connect(port, '127.0.0.1')
  const body = method === 'GET' ? '' : '{}'
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: api.test',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Idempotency-Key: the-same-key',
    ...fields,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => (text += part))
  await once(socket, 'close')
  return {
    status: Number(text.slice(9, 12)),
    error: /^WWW-Authenticate: .*\berror="(\w+)"/im.exec(text)?.[1],
    text,
  }
}

const NONE = [401, undefined] as const
const MALFORMED = [400, 'invalid_request'] as const
const INVALID = [401, 'invalid_token'] as const
/** Node's parser refuses the request. */
const UNREADABLE = [400, undefined] as const

const A = 'Authorization'
/** Fields of a request, `T` for a valid token, with the status and the error code of the challenge. */
const CASES: readonly [fields: readonly string[], expected: readonly [number, string | undefined]][] = [
  [[], NONE],
  [[`${A}:`], NONE],
  [[`${A}: Basic dXNlcjpwYXNz`], NONE],
  [[`${A}: Digest username="a", realm="b"`], NONE],
  [[`${A}: Negotiate T`], NONE],
  [[`${A}: T`], NONE],
  [[`${A}: BearerT`], NONE],
  [[`${A}: Basic a`, `${A}: Basic b`], NONE],
  [[`Proxy-${A}: Bearer T`], NONE],
  [[`X-${A}: Bearer T`], NONE],
  [['Cookie: Authorization=Bearer T'], NONE],
  [[`${A}: Bearer`], MALFORMED],
  [[`${A}: bearer   `], MALFORMED],
  [[`${A}: Bearer a b`], MALFORMED],
  [[`${A}: Bearer T T`], MALFORMED],
  [[`${A}: Bearer\tT`], MALFORMED],
  [[`${A}: Bearer "T"`], MALFORMED],
  [[`${A}: Bearer token="T"`], MALFORMED],
  [[`${A}: Bearer T, Bearer T`], MALFORMED],
  [[`${A}: Bearer T`, `${A}: Bearer T`], MALFORMED],
  [[`${A}: Bearer T`, `authorization: Basic dXNlcjpwYXNz`], MALFORMED],
  [[`${A}: Basic dXNlcjpwYXNz`, `${A}: Bearer T`], MALFORMED],
  [[`${A}: Bearer T\u00e4`], MALFORMED],
  [[`${A}: Bearer \u00ff\u00fe`], MALFORMED],
  [[`${A}: Bearer {"alg":"none"}`], MALFORMED],
  [[`${A}: Bearer ' or 1=1 --`], MALFORMED],
  [[`${A}: Bearer ${'a '.repeat(2000)}`], MALFORMED],
  [[`${A}: Bearer T\0`], UNREADABLE],
  [[`${A}: Bearer \u001b[31mT`], UNREADABLE],
  [[`${A}: Bearer null`], INVALID],
  [[`${A}: Bearer a.b.c`], INVALID],
  [[`${A}: Bearer T=`], INVALID],
  [[`${A}: Bearer ${'a'.repeat(8000)}`], INVALID],
  [[`${A}: Bearer ${'a'.repeat(20_000)}`], [431, undefined]],
]

/** An operation of each kind of bearer credential, with a valid token. */
const OPERATIONS: Readonly<Record<string, readonly [method: string, path: string, token: string]>> = {
  'a read with a session': ['GET', '/user/v1/balances', session],
  'a write with a session': ['POST', '/user/v1/payments', session],
  'a read of a partner': ['GET', '/partner/v1/cards', session],
  'an operation with a web token': ['POST', '/identity/user-api-keys', web],
}

for (const [kind, [method, path, token]] of Object.entries(OPERATIONS))
  t.test(`${kind}: 401 without a credential, 400 for a malformed one, and no response shows it`, async t => {
    for (const [given, expected] of CASES) {
      const name = `${kind}: ${given.join(' and ').slice(0, 80)}`
      const fields = given.map(each => each.replaceAll('T', token))
      const { status, error, text } = await send(method, path, fields)
      t.same([status, error], expected, name)
      t.notOk(text.includes(token), `${name} does not show the token`)
      if (expected === MALFORMED) t.match(text, /"error":"invalid_request".*"field":"authorization"/, name)
    }
  })

t.test(
  'the scheme DPoP without a proof is refused for sessions, and unknown where it has no token',
  async t => {
    for (const [kind, [method, path, token]] of Object.entries(OPERATIONS))
      for (const [value, expected] of [
        [`DPoP ${token}`, token === session ? [401, 'invalid_dpop_proof'] : NONE],
        ['DPoP', NONE],
        [`DPoP ${token} ${token}`, NONE],
      ] as const) {
        const { status, error } = await send(method, path, [`${A}: ${value}`])
        t.same([status, error], expected, `${kind}: ${value.slice(0, 6)}`)
      }
  },
)

t.test(
  'every operation that takes a bearer credential denies a malformed one before anything else',
  async t => {
    const { paths } = (await host.send('/openapi.json')).body as unknown as {
      paths: Record<string, Record<string, { security?: readonly object[] }>>
    }
    const bearers = /Bearer|WebToken/
    const found = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { security = [] }]) =>
        security.some(each => bearers.test(Object.keys(each).join()))
          ? [{ method: method.toUpperCase(), path }]
          : [],
      ),
    )
    t.ok(found.length > 80)
    for (const { method, path } of found) {
      const { status, error } = await send(method, path.replaceAll(/\{\w+\}/g, 'x'), [`${A}: Bearer a b`])
      t.same([status, error], MALFORMED, `${method} ${path}`)
    }
  },
)

t.test(
  'any bytes as a credential are 400 or 401, never accepted and never an error of the server',
  async t => {
    const part = fc.constantFrom(
      'Bearer',
      'bEaReR',
      'Basic',
      ' ',
      '  ',
      '\t',
      ',',
      '"',
      '=',
      'x',
      '\u0080',
      '\u00ff',
      session.slice(0, -1),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(part, { maxLength: 5 }), { maxLength: 3 }), async fields => {
        const { status, error } = await send(
          'GET',
          '/user/v1/balances',
          fields.map(parts => `${A}: ${parts.join('')}`),
        )
        const value = fields.map(parts => parts.join('').trim()).join(', ')
        const isNamed = /(?:^|,[ \t]*)bearer(?![\w!#$%&'*+.^`|~-])/i.test(value)
        const isToken = /^bearer +[\w.~+/-]+=*$/i.test(value)
        const expected = isToken ? INVALID : isNamed ? MALFORMED : NONE
        if (status !== expected[0] || error !== expected[1])
          throw new Error(`${JSON.stringify(fields)}: ${status} ${error}`)
      }),
      { numRuns: randomCases(200) },
    )
    t.same(host.failures, [])
  },
)
