import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Decision } from '@gatewright/http'
import root, { type Test } from 'tap'
import {
  BODY_LIMIT_BYTES,
  createWorld,
  DECLARED,
  FAILING,
  LARGE,
  POINTS,
  TRANSFERS,
  type TestServer,
  type Start,
  type World,
} from './world.ts'

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

interface Got {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

interface Ground extends World {
  readonly url: string
  send(path: string, sent?: Sent): Promise<Got>
  /** Header fields of an authorised write with a key of its own. */
  write(key?: string, scopes?: readonly string[]): Promise<Record<string, string>>
}

const parse = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** The one end-to-end suite: what every framework shows over a real socket, whatever mounts the operations. */
export function endToEnd(name: string, start: Start): void {
  const check = (title: string, run: (t: Test, ground: Ground) => Promise<void>): void => {
    void root.test(`${name}: ${title}`, async t => {
      const world = await createWorld()
      const served: TestServer = await start(world)
      t.teardown(() => served.close())
      const ground: Ground = Object.assign(world, {
        url: served.url,
        async send(path: string, sent: Sent = {}) {
          const method = sent.method ?? (sent.body === undefined ? 'GET' : 'POST')
          const response = await fetch(served.url + path, { ...sent, method })
          const text = await response.text()
          return { status: response.status, headers: response.headers, text, body: parse(text) }
        },
        write: async (key: string = randomUUID(), scopes: readonly string[] = ['cards.write']) => ({
          authorization: await world.bearer({ scopes }),
          'content-type': 'application/json',
          'idempotency-key': key,
        }),
      })
      await run(t, ground)
    })
  }

  check('an open operation requires no credential', async (t, { send }) => {
    const { status, body, headers } = await send('/plans')
    t.match({ status, body }, { status: 200, body: { plans: [] } })
    t.match(headers.get('content-type'), /application\/json/)
  })

  check('requires a session, and denies an invalid or expired one', async (t, { send, bearer, clock }) => {
    const none = await send('/user/v1/cards')
    t.match(none, { status: 401, body: { error: 'unauthorized' } })
    t.equal(none.headers.get('www-authenticate'), 'Bearer realm="api", scope="cards.read"')
    const bad = await send('/user/v1/cards', { headers: { authorization: 'Bearer a.b.c' } })
    t.match(bad.headers.get('www-authenticate'), /invalid_token/)
    const authorization = await bearer()
    const good = await send('/user/v1/cards', { headers: { authorization } })
    t.match(good, { status: 200, body: { cards: [], account: 'acc_1' } })
    clock.advance(900_000)
    const late = await send('/user/v1/cards', { headers: { authorization } })
    t.match(late, { status: 401, body: { error: 'session_expired' } })
  })

  check('names a missing scope, and denies a session of the other surface', async (t, { send, bearer }) => {
    const denied = await send('/user/v1/cards/secrets', { headers: { authorization: await bearer() } })
    t.match(denied, { status: 403, body: { error: 'insufficient_scope', scope: 'cards.secrets.read' } })
    t.match(denied.headers.get('www-authenticate'), /insufficient_scope/)
    const authorization = await bearer({ surface: 'partner' })
    const other = await send('/user/v1/cards', { headers: { authorization } })
    t.match(other, { status: 403, body: { error: 'wrong_surface' } })
  })

  check('emits one decision event per request, without secrets', async (t, ground) => {
    const { send, write, bearer, decisions } = ground
    const authorization = await bearer()
    const event = async (path: string, sent: Sent = {}): Promise<Decision | undefined> => {
      const before = decisions.length
      const { status } = await send(path, sent)
      // A server may report its end after the client has the response.
      for (let turns = 0; decisions.length === before && turns < 10_000; turns++) await setImmediate()
      t.equal(decisions.length, before + 1, `one event for ${path}`)
      t.equal(decisions.at(-1)?.status, status, path)
      return decisions.at(-1)
    }
    t.match(await event('/plans'), {
      operation: 'plans.list',
      code: undefined,
      credential: undefined,
      sessionId: undefined,
    })
    const cards = { operation: 'cards.list', method: 'GET', credential: 'session' }
    t.match(await event('/user/v1/cards'), {
      operation: 'cards.list',
      code: 'unauthorized',
      accountId: undefined,
    })
    const seen = await event('/user/v1/cards', { headers: { authorization } })
    t.match(seen, { ...cards, accountId: 'acc_1', keyId: 'key_1', sessionId: 'ses_1', limits: /r=/ })
    t.ok(Object.isFrozen(seen))
    t.notOk(JSON.stringify(seen).includes(authorization.slice(-20)))
    const lacking = await event('/user/v1/cards/secrets', { headers: { authorization } })
    t.match(lacking, { operation: 'cards.reveal', code: 'insufficient_scope' })
    const old = await event('/consumer/v1/cards', { headers: { authorization } })
    t.match(old, { ...cards, aliases: [String] })
    t.match(await event('/fault'), { code: 'service_unavailable', reason: 'ERR_STORE_UNAVAILABLE' })
    t.match(await event('/boom'), { code: 'internal_error', failure: { message: 'an internal sentence' } })
    for (const path of ['/user/v1/cards', '/user/v1/orders']) {
      const sent = { headers: await write(), body: '{"name":"a"}' }
      t.match(await event(path, sent), { status: 201, replayed: false, method: 'POST' })
      t.match(await event(path, sent), { status: 201, replayed: true })
    }
    t.match(await event(FAILING, { headers: await write(), body: '{"thrown":418}' }), { replayed: false })
  })

  check('after drain() every response closes its connection', async (t, { send, gate }) => {
    t.not((await send('/plans')).headers.get('connection'), 'close')
    gate.drain()
    for (const path of ['/plans', '/user/v1/cards', '/boom'])
      t.equal((await send(path)).headers.get('connection'), 'close', path)
  })

  check('sends the state of a limit with every response, and enforces it', async (t, { send, bearer }) => {
    const headers = { authorization: await bearer(), origin: 'https://app.test' }
    for (let left = POINTS - 1; left >= 0; left--) {
      const { status, headers: fields } = await send('/user/v1/cards', { headers })
      t.equal(status, 200)
      t.match(fields.get('ratelimit'), `r=${left}`)
      t.match(fields.get('access-control-expose-headers'), /RateLimit/)
    }
    const over = await send('/user/v1/cards', { headers })
    t.match(over, { status: 429, body: { error: 'rate_limited' } })
    t.ok(Number(over.headers.get('retry-after')) >= 1)
  })

  for (const [path, form] of [
    ['/user/v1/cards', 'a handler that returns its response'],
    ['/user/v1/orders', 'an existing handler'],
  ] as const) {
    check(`a write runs once per key (${form})`, async (t, { send, write, effects }) => {
      const headers = await write()
      const first = await send(path, { headers, body: '{"name":"a"}' })
      t.equal(first.status, 201)
      t.equal(first.headers.get('idempotency-replayed'), null)
      const again = await send(path, { headers, body: '{"name":"a"}' })
      t.match(again, { status: 201, text: first.text })
      t.equal(again.headers.get('idempotency-replayed'), 'true')
      t.equal(again.headers.get('location'), first.headers.get('location'))
      t.equal(again.headers.get('content-type'), first.headers.get('content-type'))
      t.match(again.headers.get('ratelimit'), /r=/)
      t.match(first.headers.get('idempotency-expires'), / GMT$/)
      t.equal(again.headers.get('idempotency-expires'), first.headers.get('idempotency-expires'))
      const other = await send(path, { headers, body: '{"name":"b"}' })
      t.match(other, { status: 400, body: { error: 'idempotency_key_reused' } })
      const spelt = await send(path, { headers, body: '{"name": "a"}' })
      t.match(spelt, { status: 201, text: first.text }, 'the JSON value counts, not the bytes')
      t.equal(effects.length, 1)
    })

    check(`of simultaneous writes one runs (${form})`, async (t, { send, write, effects }) => {
      const headers = await write()
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => send(path, { headers, body: '{"name":"a"}' })),
      )
      t.same(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size, 1)
      t.equal(effects.length, 1)
    })

    check(`a client that goes away does not undo a write (${form})`, async (t, ground) => {
      const { send, write, effects } = ground
      let release = (): void => {}
      ground.hold = new Promise(resolve => {
        release = resolve
      })
      const headers = await write()
      const abort = new AbortController()
      const gone = send(path, { headers, body: '{"name":"a"}', signal: abort.signal })
      gone.catch(() => {})
      while (!ground.signal) await setImmediate()
      const { signal } = ground
      abort.abort()
      await t.rejects(gone)
      if (!signal.aborted) await once(signal, 'abort')
      release()
      ground.hold = undefined
      const again = await send(path, { headers, body: '{"name":"a"}' })
      t.equal(again.status, 201)
      t.equal(again.headers.get('idempotency-replayed'), 'true')
      t.equal(effects.length, 1)
    })
  }

  check(
    'requires an idempotency key, and authorizes a replay again',
    async (t, { send, write, bearer, effects }) => {
      const { 'idempotency-key': key, ...keyless } = await write()
      const none = await send('/user/v1/cards', { headers: keyless, body: '{}' })
      t.match(none, { status: 400, body: { error: 'idempotency_key_required' } })
      const headers = await write(key)
      t.equal((await send('/user/v1/cards', { headers, body: '{}' })).status, 201)
      const authorization = await bearer({ scopes: ['cards.read'] })
      const denied = await send('/user/v1/cards', { headers: { ...headers, authorization }, body: '{}' })
      t.match(denied, { status: 403, body: { error: 'insufficient_scope' } })
      t.equal(effects.length, 1)
    },
  )

  check(
    'an old name serves the same operation and marks the response as deprecated',
    async (t, { send, write, effects }) => {
      const headers = await write()
      const first = await send('/user/v1/cards', { headers, body: '{"name":"a"}' })
      const again = await send('/consumer/v1/cards?x=1', { headers, body: '{"name":"a"}' })
      t.match(again, { status: 201, text: first.text })
      t.equal(again.headers.get('idempotency-replayed'), 'true')
      t.equal(again.headers.get('deprecation'), '@1767225600')
      t.equal(first.headers.get('deprecation'), null)
      t.equal(effects.length, 1)
      const order = await send('/consumer/v1/orders', { headers: await write(), body: '{"name":"a"}' })
      t.match(order, { status: 201, body: { order: 1, asked: { name: 'a' }, account: 'acc_1' } })
      const lost = await send('/consumer/v1/none')
      t.equal(lost.status, 404)
      t.equal(lost.headers.get('deprecation'), '@1767225600')
    },
  )

  check(
    'reads an old header under its new name, and denies two with different values',
    async (t, { send }) => {
      const old = await send('/consumer/v1/whoami', { headers: { 'x-consumer-key': 'k' } })
      t.match(old.body, { key: 'k', path: '/user/v1/whoami' })
      const headers = { 'x-consumer-key': 'k', 'x-user-key': 'l' }
      t.match(await send('/user/v1/whoami', { headers }), { status: 400, body: { field: 'x-user-key' } })
    },
  )

  check('takes the client address from a trusted proxy', async (t, { send }) => {
    const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7', 'x-forwarded-proto': 'https' }
    const { body } = await send('/user/v1/whoami', { headers })
    t.match(body, { address: '198.51.100.7', secure: true })
  })

  check(
    'responds to faults with 503 and errors with 500, without internal details',
    async (t, { send, failures }) => {
      const fault = await send('/fault')
      t.match(fault, { status: 503, body: { error: 'service_unavailable' } })
      t.equal(fault.headers.get('retry-after'), '3')
      const boom = await send('/boom')
      t.match(boom, { status: 500, body: { error: 'internal_error' } })
      t.notMatch(fault.text + boom.text, /secret|sentence/)
      t.same(
        failures.map(({ operation }) => operation),
        ['plans.fault', 'plans.boom'],
      )
    },
  )

  check(
    'a run that fails has an unknown outcome and is not repeated',
    async (t, { send, write, effects }) => {
      const headers = await write()
      t.equal((await send('/user/v1/cards', { headers, body: '{"fail":true}' })).status, 503)
      const again = await send('/user/v1/cards', { headers, body: '{"fail":true}' })
      t.match(again, { status: 503, body: { error: 'outcome_unknown' } })
      t.equal(effects.length, 1)
    },
  )

  check(
    'an existing handler that throws leaves the outcome unknown, with any status of its error',
    async (t, { send, write, effects }) => {
      const statuses = [400, 404, 422, 500]
      for (const thrown of statuses) {
        const headers = await write()
        const body = JSON.stringify({ thrown })
        t.ok((await send(FAILING, { headers, body })).status >= 400)
        const again = await send(FAILING, { headers, body })
        t.match(again, { status: 503, body: { error: 'outcome_unknown' } }, `${thrown}`)
      }
      t.equal(effects.length, statuses.length)
    },
  )

  check(
    'an existing handler that throws an error of a declared status, or a marked error, frees its key',
    async (t, { send, write, effects, decisions }) => {
      for (const [path, body] of [
        [DECLARED, { thrown: 422 }],
        [DECLARED, { thrown: 404 }],
        [FAILING, { thrown: 422, marked: true }],
        [FAILING, { thrown: 500, marked: true }],
      ] as const) {
        const sent = { headers: await write(), body: JSON.stringify(body) }
        const before = effects.length
        for (const _ of [1, 2]) t.ok((await send(path, sent)).status >= 400)
        t.equal(effects.length, before + 2, `${path} ${sent.body}: the handler ran again`)
        t.match(decisions.at(-1), { outcome: 'released', effectId: effects.at(-1) })
      }
    },
  )

  check(
    'every other error of a route with declared statuses leaves the outcome unknown',
    async (t, ground) => {
      const { send, write, effects, decisions } = ground
      for (const thrown of [400, 409, 500]) {
        const sent = { headers: await write(), body: JSON.stringify({ thrown }) }
        await send(DECLARED, sent)
        const effectId = effects.at(-1)
        const operation = 'failures.declare'
        t.match(decisions.at(-1), { outcome: 'unknown', operation, effectId })
        const again = await send(DECLARED, sent)
        t.match(again, { status: 503, body: { error: 'outcome_unknown', operationId: effectId } })
        t.match(decisions.at(-1), { outcome: 'unknown', operation, effectId, code: 'outcome_unknown' })
      }
      t.equal(effects.length, 3)
    },
  )

  check('an existing handler that sends a denial frees its key', async (t, { send, write, effects }) => {
    for (const status of [400, 403, 422]) {
      const headers = await write()
      for (const _ of [1, 2]) {
        t.equal((await send(FAILING, { headers, body: JSON.stringify({ status }) })).status, status)
      }
    }
    t.equal(effects.length, 6)
  })

  for (const [path, form] of [
    ['/user/v1/payments', 'a handler that returns its response'],
    [TRANSFERS, 'an existing handler'],
  ] as const) {
    const paid = async ({ send, write, bearer }: Ground, policyIds: readonly string[], key?: string) => {
      const authorization = await bearer({ scopes: ['cards.write'], policyIds })
      const headers = { ...(await write(key)), authorization }
      return (body: object): Promise<Got> => send(path, { headers, body: JSON.stringify(body) })
    }

    check(`a wrong amount is a 400 that names it and frees its key (${form})`, async (t, ground) => {
      const pay = await paid(ground, ['ten'])
      for (const amountCents of ['abc', -1, 1.5, null]) {
        const denied = await pay({ amountCents })
        t.match(denied, { status: 400, body: { error: 'invalid_request', field: 'amountCents' } })
      }
      t.match(await pay({ amountCents: 10 }), { status: 201, body: { paid: 10 } })
      t.same(ground.failures, [])
    })

    check(`a denial gives back what it reserved, then frees its key (${form})`, async (t, ground) => {
      const pay = await paid(ground, ['ten'])
      for (const _ of [1, 2]) t.equal((await pay({ amountCents: 10, ending: 'deny' })).status, 422)
      t.equal((await pay({ amountCents: 10 })).status, 201)
      const other = await paid(ground, ['ten'])
      t.match(await other({ amountCents: 1 }), { status: 403, body: { error: 'policy_blocked' } })
    })

    check(
      `a success without a hold, or with an open one, has an unknown outcome (${form})`,
      async (t, ground) => {
        for (const [ending, code, left] of [
          ['unreserved', 'ERR_NOT_RESERVED', 422],
          ['open', 'ERR_HOLD_NOT_ENDED', 403],
        ] as const) {
          const pay = await paid(ground, ['ten'])
          for (const error of ['service_unavailable', 'outcome_unknown']) {
            t.match(await pay({ amountCents: 4, ending }), { status: 503, body: { error } })
            t.match(ground.decisions.at(-1), { outcome: 'unknown', code: error })
          }
          t.match(ground.failures.splice(0), [{ error: { code } }])
          const other = await paid(ground, ['ten'])
          t.equal((await other({ amountCents: 7, ending: 'deny' })).status, left, 'what is left of the cap')
        }
      },
    )

    check(`a replay passes the limits of the session that asks (${form})`, async (t, ground) => {
      const key = randomUUID()
      const first = await (await paid(ground, ['ten'], key))({ amountCents: 10 })
      t.equal(first.status, 201)
      const narrow = await (await paid(ground, ['one'], key))({ amountCents: 10 })
      t.match(narrow, { status: 403, body: { error: 'policy_blocked', rule: 'maxAuthAmountCents' } })
      t.equal(narrow.headers.get('idempotency-replayed'), null)
      const again = await (await paid(ground, ['ten'], key))({ amountCents: 10 })
      t.match(again, { status: 201, text: first.text }, 'its cap of the day is used up, and not asked')
      t.equal(again.headers.get('idempotency-replayed'), 'true')
    })
  }

  check('a handler that throws keeps what it reserved', async (t, ground) => {
    const { send, write, bearer } = ground
    const authorization = await bearer({ scopes: ['cards.write'], policyIds: ['ten'] })
    const sent = {
      headers: { ...(await write()), authorization },
      body: '{"amountCents":10,"ending":"throw"}',
    }
    t.equal((await send('/user/v1/payments', sent)).status, 500)
    t.match(await send('/user/v1/payments', sent), { status: 503, body: { error: 'outcome_unknown' } })
    const other = { ...sent, headers: { ...(await write()), authorization } }
    t.match(await send('/user/v1/payments', other), { status: 403, body: { error: 'policy_blocked' } })
  })

  check('denies a body that is not JSON, and its key stays free', async (t, { send, write, effects }) => {
    for (const path of ['/user/v1/cards', '/user/v1/orders']) {
      const headers = await write()
      t.equal((await send(path, { headers, body: '{"name":' })).status, 400)
      const text = { ...headers, 'content-type': 'text/plain' }
      t.match(await send(path, { headers: text, body: 'name' }), { status: 415 })
      t.equal((await send(path, { headers, body: '{"name":"a"}' })).status, 201)
    }
    t.equal(effects.length, 2)
  })

  check(
    'denies a body above the limit, with and without content-length, and its key stays free',
    async (t, ground) => {
      const { send, write, effects, url } = ground
      const headers = await write()
      const body = JSON.stringify({ name: 'x'.repeat(BODY_LIMIT_BYTES) })
      const announced = await send('/user/v1/cards', { headers, body })
      t.match(announced, { status: 413, body: { error: 'payload_too_large' } })
      const chunks = new Blob([body]).stream()
      const init = { method: 'POST', headers, body: chunks, duplex: 'half' }
      const chunked = await fetch(`${url}/user/v1/cards`, init as RequestInit)
      t.equal(chunked.status, 413)
      await chunked.body?.cancel()
      t.equal((await send('/user/v1/cards', { headers, body: '{}' })).status, 201)
      t.equal(effects.length, 1)
    },
  )

  check('does not begin a run for a body that ends early', async (t, { send, write, effects, url }) => {
    const headers = await write()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const lines = Object.entries({ ...headers, host: 'x', 'content-length': '100' })
    socket.write(
      `POST /user/v1/cards HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}`).join('\r\n')}\r\n\r\n{"name"`,
    )
    socket.end()
    socket.resume()
    await once(socket, 'close')
    t.equal((await send('/user/v1/cards', { headers, body: '{"name":"a"}' })).status, 201)
    t.equal(effects.length, 1)
  })

  check(
    'replays the status of a response that is too large to store',
    async (t, { send, write, effects }) => {
      const headers = await write()
      const first = await send('/user/v1/reports', { headers, body: '{}' })
      t.match(first, { status: 201, text: LARGE })
      const again = await send('/user/v1/reports', { headers, body: '{}' })
      t.match(again, { status: 201, text: '' })
      t.equal(again.headers.get('idempotency-replayed'), 'true')
      t.equal(effects.length, 1)
    },
  )

  check('refuses a stream with an error that names it', async (t, { send, write, effects, failures }) => {
    const headers = await write()
    const denied = await send('/user/v1/exports', { headers, body: '{}' })
    t.match(denied, { status: 500, body: { error: 'internal_error' } })
    t.match(failures, [
      { operation: 'exports.create', error: { message: /exports\.create returned a stream/ } },
    ])
    t.match(await send('/user/v1/exports', { headers, body: '{}' }), { body: { error: 'outcome_unknown' } })
    t.equal(effects.length, 1)
  })
}
