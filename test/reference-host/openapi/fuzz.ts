// Random requests to every operation of a host, drawn from the schemas of its own description.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { bearer, bootstrapUser, startTestHost, type HttpResponse, type TestHost } from '../../harness/host.ts'
import { signedFields, WEBHOOK_SECRET } from '../harness/kyc.ts'
import { inlined } from '../../harness/openapi.ts'
import { breaks, broken, Known, valuesOf, type Break, type Schema } from './schema-values.ts'
import { fundedPartnerUser, withdrawalBody } from '../harness/transfers.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}
interface Described {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
}
interface Operation extends Described {
  readonly method: string
  readonly path: string
}

/** A request before ids of what exists are filled in. */
interface Draft {
  /** The method and path of the operation: short, so that a failure prints little. */
  readonly path: string
  readonly body: unknown
  readonly parameters: Readonly<Record<string, unknown>>
  readonly credential: number | 'none' | 'malformed'
  readonly key: string
}

/** Its responses are no JSON, or it answers for another host. */
const LEFT_OUT = ['/metrics']
const EVENTS = '/providers/{name}/events'

/** Data of the events that providers send; the sandbox takes them all. */
const EVENT_DATA: Readonly<Record<string, Schema['properties']>> = {
  'kyc.report': { id: { type: 'string' }, status: { enum: ['approved', 'rejected', 'pending', 'other'] } },
  'deposit.report': {
    depositId: { type: 'string' },
    status: { enum: ['awaitingDeposit', 'processing', 'completed', 'failed'] },
    payments: {
      type: 'array',
      items: {
        properties: { id: { enum: ['p1', 'p2'] }, creditedCents: { type: 'integer' } },
        required: ['id', 'creditedCents'],
      },
    },
  },
  'withdrawal.report': {
    withdrawalId: { type: 'string' },
    status: { enum: ['ready', 'completed', 'failed'] },
    reason: { enum: [null, 'no'] },
    txHash: { enum: [null] },
    paidCents: { enum: [null, 0, 1, 500, 9e15] },
    relay: { enum: [null] },
  },
  'authorization.request': {
    id: { enum: ['net-1', 'net-2', 'net-3', 'net-4'] },
    cardId: { type: 'string' },
    amountCents: { type: 'integer', minimum: 1 },
    currency: { enum: ['USD', 'EUR'] },
    merchant: { enum: [{ name: 'Corner Shop', mcc: '5411', country: 'US' }] },
  },
  'authorization.increment': {
    authorizationId: { type: 'string' },
    incrementId: { enum: ['inc-1', 'inc-2'] },
    amountCents: { type: 'integer', minimum: 1 },
    currency: { enum: ['USD'] },
  },
  'authorization.cleared': {
    authorizationId: { type: 'string' },
    amountCents: { type: 'integer', minimum: 1 },
  },
  'authorization.refunded': {
    authorizationId: { type: 'string' },
    amountCents: { type: 'integer', minimum: 1 },
  },
  'authorization.reversed': { authorizationId: { type: 'string' } },
}

const events = fc.oneof(
  ...Object.entries(EVENT_DATA).map(([type, properties = {}]) =>
    valuesOf({ properties, required: Object.keys(properties) }, 'data').map(drawn => {
      const { depositId, withdrawalId, authorizationId, ...data } = drawn as Record<string, unknown>
      const id = data['id'] ?? depositId ?? withdrawalId ?? authorizationId
      return { type, data: { ...data, id } }
    }),
  ),
)

function bodiesOf({ path, requestBody }: Operation): fc.Arbitrary<unknown> {
  if (path === EVENTS) return events
  const content = Object.values(requestBody?.content ?? {})[0]
  return content ? valuesOf(content.schema, 'body', content.example) : fc.constant(undefined)
}

/** The name of what a path parameter names: that of the segment before it, unless it has a name of its own. */
function nameOf({ path }: Operation, name: string): string {
  if (name !== 'id') return name
  const before = /([\w-]+)\/\{id\}/.exec(path)?.[1] ?? ''
  return `${before.replace(/s$/, '')}Id`
}

function draftsOf(operation: Operation): fc.Arbitrary<Draft> {
  const ofParameters = operation.parameters
    .filter(({ name }) => name !== 'idempotency-key')
    .map(({ name, schema }) => [name, valuesOf(schema, nameOf(operation, name))] as const)
  const requiredKeys = operation.parameters.filter(each => each.in === 'path').map(({ name }) => name)
  return fc
    .record({
      body: bodiesOf(operation),
      broke: fc.option(breaks, { nil: undefined, freq: 1 }),
      parameters: fc.record(Object.fromEntries(ofParameters), { requiredKeys }),
      credential: fc.oneof(
        { weight: 18, arbitrary: fc.nat(9) },
        { weight: 1, arbitrary: fc.constantFrom('none' as const, 'malformed' as const) },
      ),
      key: fc.oneof(
        { weight: 12, arbitrary: fc.uuid() },
        { weight: 1, arbitrary: fc.constantFrom('', 'short', 'key-of-several-requests', 'x'.repeat(300)) },
      ),
    })
    .map(({ body, broke, ...rest }) => ({
      ...rest,
      path: `${operation.method} ${operation.path}`,
      body: broke === undefined ? body : broken(body, broke satisfies Break),
    }))
}

/** What earlier responses named, by name. */
class Names {
  readonly #found = new Map<string, string[]>()

  /** Notes every id of a response: of `{ "card": { "id" } }` and of `cardId`. */
  note(value: unknown, name = ''): void {
    if (typeof value === 'string') this.#add(name, value)
    else if (Array.isArray(value)) for (const each of value) this.note(each, name)
    else if (typeof value === 'object' && value !== null)
      for (const [member, each] of Object.entries(value))
        this.note(each, member === 'id' ? `${name.replace(/s$/, '')}Id` : member)
  }

  #add(name: string, value: string): void {
    const plain = name.toLowerCase().replace(/^next/, '')
    if (!/id$|walletaddress|cursor|code/.test(plain) || value.length > 500) return
    const list = this.#found.get(plain) ?? []
    this.#found.set(plain, [...list.filter(each => each !== value), value].slice(-8))
  }

  of({ name, at }: Known): string {
    const wanted = name.toLowerCase()
    const all = [...this.#found].flatMap(([found, list]) =>
      found.endsWith(wanted) || (found.length > 2 && wanted.endsWith(found)) ? list : [],
    )
    return all[at % Math.max(all.length, 1)] ?? 'unknown-id'
  }

  fill(value: unknown): unknown {
    if (value instanceof Known) return this.of(value)
    if (Array.isArray(value)) return value.map(each => this.fill(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.fill(each)]))
  }
}

type Credentials = Readonly<Record<string, Readonly<Record<string, string>>>>

async function newCredentials(host: TestHost, names: Names): Promise<Credentials> {
  const user = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 })
  const funded = {
    body: { amountCents: 100_000 },
    headers: { ...bearer(user.token), 'idempotency-key': randomUUID() },
  }
  await host.send('/user/v1/deposits', funded)
  const write = async (path: string, body: object): Promise<HttpResponse> => {
    const headers = { ...bearer(user.token), 'idempotency-key': randomUUID() }
    const response = await host.send(`/user/v1${path}`, { body, headers })
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(response.body)}`)
    names.note(response.body)
    return response
  }
  for (const [path, body] of MADE_FIRST) await write(path, body)
  const cardId = names.of(new Known('cardId', 0))
  await write('/sandbox/authorizations', { cardId, amountCents: 100 })
  names.note({ walletAddress: user.address })
  const partner = await fundedPartnerUser(host, 50_000)
  const partnerKey = { 'x-partner-key': host.partnerKey }
  return {
    UserSessionBearer: bearer(user.token),
    ConsumerSessionBearer: bearer(user.token),
    UserKey: { 'x-user-key': user.key },
    ConsumerKey: { 'x-consumer-key': user.key },
    PartnerKey: partnerKey,
    ConsumerPartnerKey: partnerKey,
    PartnerSessionBearer: bearer(partner.token),
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
/** What a header field may have. */
const headerText = (value: unknown): string => textOf(value).replaceAll(/[^\x20-\x7e]/g, '?')
/** Without what makes a path one that the host does not route. */
const segmentText = (value: unknown): string =>
  encodeURIComponent(
    textOf(value)
      .toWellFormed()
      .replaceAll(/[/\\\p{Cc}]|^\.+$/gu, '-') || 'empty',
  )

/** One request as it is sent. */
interface Sent {
  readonly target: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

function sentOf(operation: Operation, draft: Draft, names: Names, credentials: Credentials): Sent {
  const { credential, key } = draft
  const headers: Record<string, string> = {}
  const query = new URLSearchParams()
  let target = operation.path
  for (const { name, in: place } of operation.parameters) {
    const value = names.fill(draft.parameters[name])
    if (value === undefined) continue
    if (place === 'path')
      target = target.replace(`{${name}}`, operation.path === EVENTS ? 'sandbox' : segmentText(value))
    else if (place === 'query')
      query.set(name, (Array.isArray(value) ? value.map(textOf).join(',') : textOf(value)).toWellFormed())
    else headers[name.toLowerCase()] = headerText(value)
  }
  if (operation.method !== 'GET' && key !== '') headers['idempotency-key'] = key
  const body = draft.body === undefined ? undefined : JSON.stringify(names.fill(draft.body))
  if (operation.path === EVENTS)
    Object.assign(headers, signedFields(body ?? '', { now: Date.now(), secret: WEBHOOK_SECRET }))
  if (credential === 'malformed') Object.assign(headers, bearer('a.b.c'))
  if (typeof credential === 'number') {
    const [scheme = ''] = Object.keys(operation.security[credential % operation.security.length] ?? {})
    Object.assign(headers, credentials[scheme])
  }
  const text = query.toString()
  return { target: text === '' ? target : `${target}?${text}`, method: operation.method, headers, body }
}

/** What a run has done: how many operations succeeded at least once, of how many, and the responses by status. */
export interface Tally {
  readonly operations: number
  readonly succeeded: Set<string>
  readonly statuses: Map<number, number>
}

/** What a host reports of provider events that contradict earlier ones. */
const IS_CONFLICT = /gave its id to another payment$|repeated the id of .* it was declined$/
/** What it reports of events about objects that it does not know, or under an id that it knows with another content. */
const IS_KEPT = /it was kept, see npx gatewright provider-events list$/
const REQUESTS_OF_A_USER = 100
/** What each new user makes first, so that operations on existing things succeed. */
const MADE_FIRST: readonly (readonly [path: string, body: object])[] = [
  ['/cards', {}],
  ['/deposits', { currency: 'usdc', network: 'base' }],
  ['/withdrawals', withdrawalBody(500)],
  ['/contracts', {}],
  ['/bills', { payee: 'City Power', amountCents: 100, dueAt: '2030-01-01' }],
  ['/keys', {}],
  ['/folders', { name: 'Travel' }],
  ['/subscriptions/payin', { amountCents: 2500 }],
]

/**
 * Sends random requests, valid or with one place broken. Throws at a response with a status of 500 or more, or one that the
 * description does not document by its status, its content type or the schema of its body.
 */
export async function fuzzOperations(
  numRuns: number,
  { env = {}, seed }: { readonly env?: Record<string, string>; readonly seed?: number } = {},
): Promise<Tally> {
  const host = await startTestHost({
    RATE_LIMITS: 'off',
    PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}`,
    ...env,
  })
  try {
    return await fuzzHost(host, numRuns, seed)
  } finally {
    await host.close()
  }
}

async function fuzzHost(host: TestHost, numRuns: number, seed?: number): Promise<Tally> {
  const { body: published } = await host.send('/openapi.json')
  const paths = inlined(published, published['paths']) as Record<string, Record<string, Described>>
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    LEFT_OUT.includes(path)
      ? []
      : Object.entries(item).map(
          ([method, described]): Operation => ({ ...described, path, method: method.toUpperCase() }),
        ),
  )
  const drafts = operations.map(draftsOf)
  const byPath = new Map(operations.map(each => [`${each.method} ${each.path}`, each]))
  const tally: Tally = { operations: operations.length, succeeded: new Set(), statuses: new Map() }
  let names = new Names()
  let credentials = await newCredentials(host, names)
  let sentByUser = 0
  const send = async (draft: Draft): Promise<void> => {
    const { target, method, headers, body } = sentOf(
      byPath.get(draft.path) as Operation,
      draft,
      names,
      credentials,
    )
    const { authorization: _, ...shown } = headers
    const what = `${method} ${target} ${JSON.stringify(shown)} ${body ?? ''}`
    let response: HttpResponse
    try {
      response = await host.send(target, { method, headers, ...(body === undefined ? {} : { body }) })
    } catch (cause) {
      throw new Error(`${what}: ${(cause as Error).message}`, { cause })
    }
    const { status } = response
    if (status >= 500)
      throw new Error(`${what}: ${status} ${JSON.stringify(response.body)} ${String(host.failures.at(-1))}`)
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
    if (status < 400) tally.succeeded.add(draft.path)
    names.note(response.body)
    sentByUser += 1
    // A request may have ended its session, revoked its key or paused it.
    const isEnded = status === 401 && typeof draft.credential === 'number'
    const isPaused = status === 403 && JSON.stringify(response.body).includes('key_paused')
    if (sentByUser < REQUESTS_OF_A_USER && !isEnded && !isPaused) return
    names = new Names()
    credentials = await newCredentials(host, names)
    sentByUser = 0
  }
  // The requests depend on those before them, so that a smaller one would be another test.
  const parameters = { numRuns, endOnFailure: true, ...(seed === undefined ? {} : { seed }) }
  await fc.assert(fc.asyncProperty(fc.oneof(...drafts), send), parameters)
  const expected = [IS_CONFLICT, IS_KEPT]
  const unexpected = host.failures
    .map(String)
    .filter(failure => !expected.some(pattern => pattern.test(failure)))
  if (unexpected.length > 0) throw new Error(`the host reported ${unexpected[0]}`)
  return tally
}
