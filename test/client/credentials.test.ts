import { inspect } from 'node:util'
import { createClient, GatewrightError, type ClientOptions } from '@gatewright/client'
import * as user from '@gatewright/client/user'
import t from 'tap'
import { problem, scriptedHost, session, success } from './scripted.ts'

const SECRET = 'gw_live_s3cr3tk3y'
const AMISS = ['\n', '\r\n', '\0', '\u007f', ' ', '\t', '\u200b', 'é', '\ud800']
const failure = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

t.test(
  'a credential that no header field can carry is a TypeError where it enters, without its text',
  async t => {
    for (const name of ['userKey', 'partnerKey', 'token'] as const) {
      const values: unknown[] = AMISS.flatMap(each => [
        SECRET + each,
        each + SECRET,
        `${SECRET}${each}${SECRET}`,
      ])
      for (const value of [...values, '', 7, null, { key: SECRET }]) {
        const options = {
          url: 'https://api.example',
          credential: { [name]: value },
        } as unknown as ClientOptions
        const error = await failure(() => createClient(options))
        t.match(error, {
          name: 'TypeError',
          message: new RegExp(`^credential\\.${name} must be a text of visible ASCII`),
        })
        t.notMatch(inspect(error), SECRET)
      }
      t.doesNotThrow(() =>
        createClient({ url: 'https://api.example', credential: { [name]: SECRET } as never }),
      )
    }
  },
)

t.test(
  'an idempotency key that no header field can carry is a TypeError without its text, and nothing is sent',
  async t => {
    for (const amiss of AMISS) {
      const host = scriptedHost(success({}))
      const client = createClient({ ...host.options, credential: { token: SECRET } })
      const error = await failure(() =>
        client.call(user.depositsCreate, {
          body: { amountCents: 500 },
          idempotencyKey: SECRET + amiss,
        }),
      )
      t.match(error, { name: 'TypeError', message: /^idempotencyKey must be a text of visible ASCII/ })
      t.notMatch(inspect(error), SECRET)
      t.equal(host.requests.length, 0)
    }
  },
)

t.test('a session token that no header field can carry is no session', async t => {
  const host = scriptedHost(session(`${SECRET}\n`))
  const client = createClient({ ...host.options, credential: { userKey: 'gw_key' }, retries: 0 })
  const error = await failure(() => client.call(user.balancesRead))
  t.match(error, { problem: { code: 'unrecognized_response' } })
  t.notMatch(inspect(error), SECRET)
})

t.test('no error of what sends the requests shows a credential', async t => {
  const errors: readonly (() => unknown)[] = [
    () => new TypeError(`Headers.append: "Bearer ${SECRET}" is an invalid header value`),
    () => Object.assign(new Error('failed'), { config: { headers: { authorization: `Bearer ${SECRET}` } } }),
    () => new Error('failed', { cause: new Error(`sent ${SECRET}`) }),
    () => `failed with ${SECRET}`,
    () => new AggregateError([new Error(SECRET)], 'failed'),
  ]
  for (const name of ['userKey', 'token'] as const)
    for (const made of errors) {
      const client = createClient({
        url: 'https://api.example',
        credential: { [name]: SECRET } as never,
        retries: 0,
        fetch: () => Promise.reject(made()),
      })
      const error = await failure(() => client.call(user.balancesRead))
      t.match(error, { problem: { code: 'no_response', status: 0 } })
      t.ok(error instanceof GatewrightError)
      t.notMatch(inspect(error, { depth: 10 }), SECRET)
    }
  const plain = new Error('connect ECONNREFUSED')
  const client = createClient({
    url: 'https://api.example',
    credential: { token: SECRET },
    retries: 0,
    fetch: () => Promise.reject(plain),
  })
  const kept = (await failure(() => client.call(user.balancesRead))) as GatewrightError
  t.match(kept.problem.message, /connect ECONNREFUSED/)
  t.equal(kept.cause, plain, 'another error is kept')
})

t.test('seconds to wait in a body are bounded, and those of the header field count first', async t => {
  const cases: readonly [unknown, string | undefined, number | undefined][] = [
    [7, undefined, 7],
    [6.2, undefined, 7],
    [0, undefined, 0],
    [1e12, undefined, 999_999_999],
    [-1, undefined, undefined],
    ['7', undefined, undefined],
    [null, undefined, undefined],
    [{}, undefined, undefined],
    [99, '3', 3],
  ]
  for (const [inBody, field, expected] of cases) {
    const headers = field === undefined ? {} : { 'retry-after': field }
    const host = scriptedHost(problem(429, 'rate_limited', { retryAfterSeconds: inBody }, headers))
    const client = createClient({ ...host.options, credential: { token: 'tok' }, retries: 0 })
    const error = (await failure(() => client.call(user.balancesRead))) as GatewrightError
    t.equal(error.problem.retryAfterSeconds, expected, JSON.stringify([inBody, field]))
  }
  const infinite = new Response(
    '{"ok":false,"error":"rate_limited","message":"wait","retryAfterSeconds":1e999}',
    { status: 429, headers: { 'content-type': 'application/json' } },
  )
  const host = scriptedHost(infinite, success({ balances: [] }))
  const client = createClient({ ...host.options, credential: { token: 'tok' }, retries: 1 })
  const error = (await failure(() => client.call(user.balancesRead))) as GatewrightError
  t.equal(error.problem.retryAfterSeconds, 999_999_999)
  t.same(host.waits, [], 'it is not waited for')
})
