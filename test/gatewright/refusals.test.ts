// Every kind of refusal has the same status, fields and members in every binding, in the plain form and as a problem document (RFC 9457);
// and a malformed `Authorization` is 400 in all of them (RFC 6750 section 3.1).
import { Fault } from '@gatewright/kernel'
import { memoryStore } from 'gatewright/memory'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { BINDINGS, send, withOptions, type Received, type Sent } from './refusals.ts'
import { createWorld, type World } from './world.ts'

const READS = 40
/** The payment of this amount is not finished before the test ends. */
const ENDLESS_CENTS = 4999

interface Steered {
  readonly world: World
  /** Resolves when the endless payment has begun. */
  readonly hasBegun: Promise<void>
  /** Ends the endless payment. */
  end(): void
  readonly store: { isDown: boolean }
}

/** A world whose store can fail, and whose processor ends one payment only when it is told to. */
function worldOf(errors: 'plain' | 'problem'): Steered {
  const store = memoryStore({ perProcess: true })
  const state = { isDown: false }
  const { idempotency } = store
  const world = createWorld({
    ...store,
    idempotency: {
      ...idempotency,
      begin: async (...given: Parameters<typeof idempotency.begin>) => {
        if (state.isDown) throw new Fault('ERR_STORE_UNAVAILABLE', 'the store is down')
        return idempotency.begin(...given)
      },
    },
  })
  const { pay } = world.processor
  let begin = (): void => {}
  let end = (): void => {}
  const hasEnded = new Promise<void>(resolve => (end = resolve))
  const hasBegun = new Promise<void>(resolve => (begin = resolve))
  Object.assign(world.processor, {
    pay(amountCents: number, key: string) {
      if (amountCents !== ENDLESS_CENTS) return pay(amountCents, key)
      begin()
      return hasEnded.then(() => 'paid')
    },
  })
  const made = withOptions(world, {
    limits: [{ name: 'perAccount', points: READS, windowSeconds: 60, per: 'account' }],
    idempotency: { waitMs: 0 },
    gate: { errors, idempotencyDialect: 'ietf', bodyLimitBytes: 2000, hint: false, report: () => {} },
  })
  return { world: made, hasBegun, end, store: state }
}

interface Kind {
  readonly status: number
  readonly code: string
  /** Members of the response beside code and message. */
  readonly members?: object
  readonly challenge?: RegExp
  readonly retries?: true
  readonly isStoreDown?: true
  readonly sent: Partial<Sent> & {
    readonly authorization?: readonly string[]
    readonly key?: string | undefined
  }
  /** Requests that come before it, and are not looked at. */
  readonly before?: { readonly times: number; readonly waits: boolean; readonly sent: Kind['sent'] }
}

const pay = (amountCents: unknown, key?: string): Kind['sent'] => ({
  body: JSON.stringify({ amountCents }),
  ...(key === undefined ? {} : { key }),
})
const malformed = (...authorization: string[]): Kind => ({
  status: 400,
  code: 'invalid_request',
  members: { field: 'authorization' },
  challenge: /^Bearer realm="api", error="invalid_request", error_description="[^"]+"$/,
  sent: { authorization },
})
const NOISY = 'NOISY'
const read: Kind['sent'] = { method: 'GET', path: '/payments/pay_1', authorization: [NOISY], body: '' }

/** `TOKEN` stands for a valid token with both scopes, `NARROW` for one without that of the write, `NOISY` for another account's. */
const KINDS: Readonly<Record<string, Kind>> = {
  'no credential': {
    status: 401,
    code: 'unauthorized',
    challenge: /^Bearer realm="api"(?:, scope="payments\.write")?$/,
    sent: { authorization: [] },
  },
  'an empty field': {
    status: 401,
    code: 'unauthorized',
    challenge: /^Bearer realm="api"/,
    sent: { authorization: [''] },
  },
  'another scheme': {
    status: 401,
    code: 'unauthorized',
    challenge: /^Bearer realm="api"(?!.*error=)/,
    sent: { authorization: ['Basic dXNlcjpwYXNz'] },
  },
  'a token without scheme': { status: 401, code: 'unauthorized', sent: { authorization: ['TOKEN'] } },
  'an invalid token': {
    status: 401,
    code: 'unauthorized',
    challenge: /error="invalid_token"/,
    sent: { authorization: ['Bearer TOKENx'] },
  },
  'Bearer alone': malformed('Bearer'),
  'Bearer and a space': malformed('Bearer '),
  'two tokens': malformed('Bearer TOKEN TOKEN'),
  'a quoted token': malformed('Bearer "TOKEN"'),
  'two fields': malformed('Bearer TOKEN', 'Bearer TOKEN'),
  'two fields, the other first': malformed('Basic dXNlcjpwYXNz', 'Bearer TOKEN'),
  'a missing scope': {
    status: 403,
    code: 'insufficient_scope',
    members: { scope: 'payments.write' },
    challenge: /error="insufficient_scope"/,
    sent: { authorization: ['Bearer NARROW'] },
  },
  'a policy': {
    status: 403,
    code: 'policy_blocked',
    members: { rule: 'dailySpendCapCents', remaining: 10_000, requested: 10_001, unit: 'cents' },
    sent: pay(10_001),
  },
  'no key': {
    status: 400,
    code: 'idempotency_key_required',
    members: { field: 'idempotency-key' },
    sent: { ...pay(1), key: undefined },
  },
  'a wrong key': {
    status: 400,
    code: 'idempotency_key_invalid',
    members: { field: 'idempotency-key' },
    sent: pay(1, 'short'),
  },
  'a wrong body': {
    status: 400,
    code: 'invalid_request',
    members: { field: 'amountCents' },
    sent: pay('much'),
  },
  'a body that is too large': {
    status: 413,
    code: 'payload_too_large',
    sent: { body: '{"amountCents":1}'.padEnd(2001) },
  },
  'a key of a running write': {
    status: 409,
    code: 'request_in_progress',
    sent: pay(ENDLESS_CENTS, 'key-of-a-running-write'),
    retries: true,
    before: { times: 1, waits: false, sent: pay(ENDLESS_CENTS, 'key-of-a-running-write') },
  },
  'a reused key': {
    status: 422,
    code: 'idempotency_key_reused',
    sent: pay(2, 'key-of-another-payment'),
    before: { times: 1, waits: true, sent: pay(1, 'key-of-another-payment') },
  },
  'a rate limit': {
    status: 429,
    code: 'rate_limited',
    members: { limit: 'perAccount' },
    retries: true,
    sent: read,
    before: { times: READS, waits: true, sent: read },
  },
  'a store that is down': {
    status: 503,
    code: 'service_unavailable',
    retries: true,
    isStoreDown: true,
    sent: pay(1),
  },
}

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  413: 'Payload Too Large',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/** The components of docs/openapi-errors.md, as a team copies them into its document. */
const COMPONENTS = (
  JSON.parse(/```json\n(.*?)\n```/s.exec(readFileSync('docs/openapi-errors.md', 'utf8'))?.[1] ?? '') as {
    components: {
      responses: { Refused: { content: Record<string, object> } }
      schemas: { Refusal: object; Problem: object }
    }
  }
).components
const mediaTypes = Object.keys(COMPONENTS.responses.Refused.content)
const ajv = new Ajv2020({ strict: true })
const schemas = {
  plain: { mediaType: 'application/json', fits: ajv.compile(COMPONENTS.schemas.Refusal) },
  problem: { mediaType: 'application/problem+json', fits: ajv.compile(COMPONENTS.schemas.Problem) },
}

/** Removes what differs by the moment. */
const stable = ({ resetsAt: _resetsAt, ...members }: Record<string, unknown>): Record<string, unknown> =>
  members

for (const [binding, start] of Object.entries(BINDINGS))
  t.test(`${binding}: each kind of refusal, plain and as a problem document`, async t => {
    const members: Record<string, Record<string, unknown>> = {}
    for (const errors of ['plain', 'problem'] as const) {
      const { world, hasBegun, end, store } = worldOf(errors)
      const server = await start(world)
      t.teardown(async () => {
        end()
        await server.close()
      })
      const tokens = {
        TOKEN: await world.token('payments.read payments.write'),
        NARROW: await world.token('payments.read'),
        NOISY: `Bearer ${await world.token('payments.read', 'auth0|bob')}`,
      }
      const full = (text: string): string =>
        text.replaceAll(/TOKEN|NARROW|NOISY/g, name => tokens[name as keyof typeof tokens])
      let serial = 0
      const receive = ({ authorization = ['Bearer TOKEN'], ...given }: Kind['sent']): Promise<Received> => {
        const key = 'key' in given ? given.key : `key-${String(++serial).padStart(6, '0')}`
        const { method = 'POST', path = '/payments', body = '{"amountCents":1}' } = given
        return send(server.url, {
          method,
          path,
          body,
          fields: [
            ...authorization.map(text => ['Authorization', full(text)] as const),
            ...(method === 'POST' ? ([['Content-Type', 'application/json']] as const) : []),
            ...(key === undefined ? [] : ([['Idempotency-Key', key]] as const)),
          ],
        })
      }
      for (const [kind, { status, code, challenge, retries, before, ...expected }] of Object.entries(KINDS)) {
        // The parser in front of Nest's guards has a limit of its own.
        if (status === 413 && binding === 'Nest') continue
        for (let n = 0; n < (before?.times ?? 0); n++) {
          const earlier = receive(before?.sent ?? {})
          if (before?.waits) await earlier
          else {
            earlier.catch(() => {})
            await hasBegun
          }
        }
        store.isDown = expected.isStoreDown === true
        const response = await receive(expected.sent)
        const title = `${errors}: ${kind}`
        const json = JSON.parse(response.text) as Record<string, unknown>
        t.equal(response.status, status, title)
        const type =
          errors === 'plain'
            ? /^application\/json(?:; ?charset=utf-8)?$/
            : /^application\/problem\+json(?:; ?charset=utf-8)?$/
        t.match(response.type, type, title)
        const { mediaType, fits } = schemas[errors]
        t.ok(mediaTypes.includes(mediaType) && fits(json), `${title}: fits docs/openapi-errors.md`)
        t.match(json, expected.members ?? {}, title)
        if (challenge) t.match(response.challenge, challenge, title)
        t.equal(response.retryAfter !== undefined, retries === true, `${title}: Retry-After`)
        for (const token of Object.values(tokens))
          t.notOk(response.text.includes(token), `${title}: no token`)
        if (errors === 'plain') {
          const { error, message, ...others } = json
          t.equal(error, code, title)
          members[kind] = stable({ message, ...others })
          continue
        }
        const { type: uri, title: phrase, status: named, detail, code: problemCode, ...others } = json
        t.same([uri, phrase, named, problemCode], ['about:blank', PHRASES[status], status, code], title)
        t.same(
          stable({ message: detail, ...others }),
          members[kind],
          `${title}: the members of the plain form`,
        )
      }
    }
  })
