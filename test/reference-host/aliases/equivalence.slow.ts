import assert from 'node:assert/strict'
import { manualClock } from '@gatewright/kernel/testing'
import type { ManualClock } from '@gatewright/kernel/testing'
import { listAliases } from '@gatewright/legacy-alias-router'
import type { AliasKind } from '@gatewright/legacy-alias-router/internal'
import { aliasTable } from '#packages/reference-host/dist/product/aliases.js'
import fc from 'fast-check'
import t from 'tap'
import { privateKeyToAccount } from 'viem/accounts'
import { holds } from '../../harness/holds.ts'
import { bearer, startTestHost, templateA, type TestHost } from '../../harness/host.ts'
import { counterparts, respell, type Current, type Spelling } from './spelling.ts'

// Two hosts get the same sequence of requests: the first in current names only, the second each in a random
// spelling. If a legacy name used another limiter bucket, idempotency record, key, session or operation
// anywhere, their responses would differ.

const START = Date.UTC(2026, 5, 1)
const LIMITS = JSON.stringify({
  guardedPerKeyPerMinute: 6,
  writesPerSessionPerMinute: 5,
  bootstrapPerAddressPerMinute: 1000,
  failedCredentialsPerAddressPerMinute: 1000,
  mintsPerKeyPerMinute: 4,
})

/** Credentials and ids that one host has handed out so far. */
interface HandedOut {
  readonly userKeys: string[]
  readonly userTokens: string[]
  readonly partnerTokens: string[]
  readonly partnerKey: string
}
/** A request made from what a host handed out, with the same choices on both hosts. */
type Step = (held: HandedOut) => Current | Promise<Current>

const pick = (list: readonly string[], index: number): string =>
  list[index % Math.max(list.length, 1)] ?? 'none'
const someOf = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const NAMES = [
  'cards.read',
  'subscriptions.write',
  'keys.read',
  'deposits-swapped.read',
  'balances.read',
  'no.such',
]
const scopes = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.subarray(NAMES) },
)
const ttlSeconds = someOf(undefined, undefined, 60, 900, 59)
/** Drops undefined members, as JSON does. */
const json = (body: object): unknown => JSON.parse(JSON.stringify(body))

const wallet = (index: number) => privateKeyToAccount(`0x${String(index + 1).padStart(64, '0')}`)
/** A wallet's bootstrap. Signatures are deterministic, so both hosts get the same bytes. */
const bootstrapStep =
  ({
    wallet: index,
    nonce,
    cap,
    ...asked
  }: {
    wallet: number
    nonce: number
    cap?: number | undefined
  }): Step =>
  async () => {
    const account = wallet(index)
    const statement = {
      address: account.address,
      nonce: `nonce-number-${nonce}`,
      issuedAt: new Date(START).toISOString(),
      expiresAt: new Date(START + 300_000).toISOString(),
    }
    const signature = await account.signMessage({ message: templateA(statement) })
    const policy = cap === undefined ? {} : { policy: { maxAuthAmountCents: cap } }
    const body = json({ ...statement, signature, ...asked, ...policy })
    return { operation: 'auth.bootstrap', method: 'POST', path: '/user/v1/bootstrap', headers: {}, body }
  }
const bootstrap = fc
  .record({
    wallet: fc.nat(1),
    nonce: fc.nat(3),
    scopes,
    sessionScopes: scopes,
    sessionTtlSeconds: ttlSeconds,
    cap: someOf(undefined, 500),
  })
  .map(bootstrapStep)

const mint = fc.record({ key: fc.nat(5), scopes, ttlSeconds }).map(
  ({ key, ...asked }): Step =>
    ({ userKeys }) => ({
      operation: 'sessions.create',
      method: 'POST',
      path: '/user/v1/sessions',
      headers: { 'x-user-key': pick(userKeys, key) },
      body: json(asked),
    }),
)

const payin = fc
  .record({
    token: someOf(0, 0, 0, 1, 2),
    key: someOf('key-number-1', 'key-number-1', 'key-number-2', 'short'),
    amountCents: someOf(100, 200, 501, 0, undefined),
  })
  .map(
    ({ token, key, amountCents }): Step =>
      ({ userTokens }) => ({
        operation: 'subscriptions.payin',
        method: 'POST',
        path: '/user/v1/subscriptions/payin',
        headers: { ...bearer(pick(userTokens, token)), 'idempotency-key': key },
        body: json({ amountCents }),
      }),
  )

const address = someOf(undefined, null, `0x${'aB'.repeat(20)}`, `0x${'1'.repeat(40)}`, 'no address')
const partnerUser = { userId: someOf('ann', 'bob', '', undefined), walletAddress: address }
const resolve = fc
  .record({ ...partnerUser, path: someOf('/users/resolve', '/partner/v1/users/resolve') })
  .map(
    ({ path, ...body }): Step =>
      ({ partnerKey }) => ({
        operation: 'users.resolve',
        method: 'POST',
        path,
        headers: { 'x-partner-key': partnerKey },
        body: json(body),
      }),
  )
const partnerSession = fc.record({ ...partnerUser, scopes, ttlSeconds }).map(
  (body): Step =>
    ({ partnerKey }) => ({
      operation: 'sessions.createForPartner',
      method: 'POST',
      path: '/partner/v1/sessions',
      headers: { 'x-partner-key': partnerKey },
      body: json(body),
    }),
)
const cards = fc.record({ token: fc.nat(5), query: someOf('', '?limit=2', '?limit=0', '?cursor=x') }).map(
  ({ token, query }): Step =>
    ({ partnerTokens }) => ({
      operation: 'cards.list',
      method: 'GET',
      path: `/partner/v1/cards${query}`,
      headers: bearer(pick(partnerTokens, token)),
    }),
)

const firstBootstrap = bootstrapStep({ wallet: 0, nonce: 9 })
const firstPayin: Step = ({ userTokens }) => ({
  operation: 'subscriptions.payin',
  method: 'POST',
  path: '/user/v1/subscriptions/payin',
  headers: { ...bearer(pick(userTokens, 0)), 'idempotency-key': 'key-number-1' },
  body: { amountCents: 100 },
})

interface OperationDescription {
  readonly operationId: string
  readonly deprecated?: boolean
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: unknown
}

/** A request to one operation of the API description, built from that description. */
const stepOf =
  (
    [verb, path, { operationId, security, requestBody }]: readonly [string, string, OperationDescription],
    { body, token, credential, method }: { body: unknown; token: number; credential: number; method: number },
  ): Step =>
  ({ userKeys, userTokens, partnerTokens, partnerKey }) => {
    const scheme = Object.keys(security?.[0] ?? {})[0] ?? 'none'
    const proofs: Record<string, Record<string, string>> = {
      none: {},
      UserKey: { 'x-user-key': pick(userKeys, token) },
      PartnerKey: { 'x-partner-key': partnerKey },
      UserSessionBearer: bearer(pick(userTokens, token)),
      PartnerSessionBearer: bearer(pick(partnerTokens, token)),
    }
    // Sometimes a credential or a method that the operation does not accept.
    const proof = credential === 0 ? Object.values(proofs)[token % 5] : proofs[scheme]
    return {
      operation: operationId.replace('_', '.'),
      method: method === 0 ? 'PUT' : verb.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'some-id'),
      headers: { ...proof, 'idempotency-key': `key-number-${token}` },
      ...(requestBody === undefined ? {} : { body }),
    }
  }

/** Any operation of the API description. */
const anyOf = (described: readonly (readonly [string, string, OperationDescription])[]): fc.Arbitrary<Step> =>
  fc
    .record({
      index: fc.nat(described.length - 1),
      body: someOf<unknown>({}, { amountCents: 100 }, { scopes: ['cards.read'] }, [], '{'),
      token: fc.nat(5),
      credential: fc.nat(9),
      method: fc.nat(9),
    })
    .map(({ index, ...choice }) => stepOf(described[index]!, choice))

interface HostResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

async function say(host: TestHost, request: Current): Promise<HostResponse> {
  const { method, headers, body } = request
  const response = await fetch(host.url + request.path, {
    redirect: 'manual',
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: isJson ? JSON.parse(text) : undefined,
  }
}

/** Keeps what one host handed out for later steps. */
function keep(held: HandedOut, { operation }: Current, { status, body }: HostResponse): void {
  // A CSV document hands out nothing.
  if (status !== 200 || body === undefined) return
  const { userApiKey, sessionToken, data } = body as Record<string, unknown>
  const token = (sessionToken ?? (data as Record<string, unknown> | undefined)?.['sessionToken']) as string
  if (typeof userApiKey === 'string') held.userKeys.push(userApiKey)
  if (operation === 'auth.bootstrap' || operation === 'sessions.create') held.userTokens.push(token)
  if (operation === 'sessions.createForPartner') held.partnerTokens.push(token)
}

/** Leaves out what may differ: deprecation notices, socket headers, real time, random card data and referral codes. */
function comparable({ status, headers, body }: HostResponse): unknown {
  const kept = { ...headers }
  for (const name of [
    'deprecation',
    'sunset',
    'link',
    'x-request-id',
    'date',
    'content-length',
    'retry-after',
  ]) {
    delete kept[name]
  }
  for (const name of ['ratelimit']) if (kept[name]) kept[name] = kept[name].replaceAll(/;t=\d+/g, '')
  const data = (
    body as
      | {
          data?: {
            card?: Record<string, unknown>
            cards?: Record<string, unknown>[]
            referral?: { code?: string }
            requests?: Record<string, unknown>[]
            rows?: { readonly at: string; readonly action: string }[]
          }
        }
      | undefined
  )?.data
  // One request writes several rows of the audit at one instant, and these are in the order of their random ids.
  data?.rows?.sort((one, other) => (`${other.at} ${other.action}` < `${one.at} ${one.action}` ? -1 : 1))
  delete data?.referral?.code
  delete data?.card?.['last4']
  for (const card of data?.cards ?? []) {
    for (const face of ['last4', 'status', 'limit', 'expirationMonth', 'expirationYear']) delete card[face]
  }
  for (const request of data?.requests ?? []) delete request['durationMs']
  return { status, headers: kept, body }
}

/** The decision event without alias names and real time. */
function evidence(host: TestHost): unknown {
  const { aliases: _aliases, requestId: _id, denial, ...decision } = host.decisions.at(-1)!
  const rest = Object.fromEntries(Object.entries(decision).filter(([name]) => !name.endsWith('Ms')))
  if (!denial) return rest
  // How long to wait differs as the field Retry-After does.
  const { headers = [] } = denial as { headers?: readonly (readonly [string, string])[] }
  const kept = headers
    .filter(([name]) => name.toLowerCase() !== 'retry-after')
    .map(([name, value]) => [name, value.replaceAll(/;t=\d+/g, '')])
  const timeless = { ...denial, headers: kept, retryAfterSeconds: undefined }
  const withoutTimes = JSON.stringify(timeless, (name, value) =>
    name === 'resetSeconds' ? undefined : value,
  )
  return { ...rest, denial: JSON.parse(withoutTimes) as unknown }
}

async function describedBy({ url }: TestHost): Promise<[string, string, OperationDescription][]> {
  const response = await fetch(`${url}/openapi.json`)
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, OperationDescription>> }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      // Metrics count requests and time, so they differ.
      operation.deprecated || path === '/metrics'
        ? []
        : [[method, path, operation] as [string, string, OperationDescription]],
    ),
  )
}

const probe = await startTestHost()
const described = await describedBy(probe)
await probe.close()

t.test(
  'old and new names give the same responses, limits, records and decision events for every operation',
  async t => {
    const used = new Set<string>()
    const operations = new Set<string>()
    let replays = 0
    const spelling: fc.Arbitrary<Spelling> = fc.record({
      path: fc.boolean(),
      headers: fc.boolean(),
      fields: fc.boolean(),
    })
    const step = fc.oneof(
      { weight: 4, arbitrary: bootstrap },
      { weight: 3, arbitrary: mint },
      { weight: 5, arbitrary: payin },
      { weight: 3, arbitrary: resolve },
      { weight: 3, arbitrary: partnerSession },
      { weight: 2, arbitrary: cards },
      { weight: 5, arbitrary: anyOf(described) },
    )
    // Time passes between steps, so that no list has two entries of one instant in the order of their random
    // ids.
    const random = fc.array(fc.tuple(step, spelling, someOf(1000, 1000, 1000, 1000, 61_000)), {
      minLength: 40,
      maxLength: 70,
    })
    // Every sequence begins with a wallet and two pay-ins under one key, so that none consists of denials
    // only.
    const opening = fc
      .tuple(spelling, spelling, spelling)
      .map(spellings =>
        [firstBootstrap, firstPayin, firstPayin].map(
          (step, index) => [step, spellings[index]!, 1000] as [Step, Spelling, number],
        ),
      )
    // Then every operation is called once in legacy names, slowly enough for the rate limits.
    const all: [Step, Spelling, number][] = described.map(each => [
      stepOf(each, { body: {}, token: 0, credential: 1, method: 1 }),
      { path: true, headers: true, fields: true },
      11_000,
    ])
    // Finally the operations that name a user, after the rate limits have reset: most of their random calls
    // are over the limits.
    const user = { userId: 'ann', walletAddress: `0x${'1'.repeat(40)}` }
    const naming = ['/users/resolve', '/partner/v1/sessions'].map((path): [Step, Spelling, number] => [
      ({ partnerKey }) => ({
        operation: path === '/users/resolve' ? 'users.resolve' : 'sessions.createForPartner',
        method: 'POST',
        path,
        headers: { 'x-partner-key': partnerKey },
        body: user,
      }),
      { path: true, headers: true, fields: true },
      61_000,
    ])
    const history = fc.tuple(opening, random).map(([first, rest]) => [...first, ...all, ...naming, ...rest])

    async function run(steps: [Step, Spelling, number][]): Promise<void> {
      const clocks = [manualClock(START), manualClock(START)] as [ManualClock, ManualClock]
      const hosts = await Promise.all(clocks.map(clock => startTestHost({ RATE_LIMITS: LIMITS }, clock)))
      const [current, old] = hosts as [TestHost, TestHost]
      try {
        const empty = ({ partnerKey }: TestHost): HandedOut => ({
          userKeys: [],
          userTokens: [],
          partnerTokens: [],
          partnerKey,
        })
        const [here, there] = [empty(current), empty(old)]
        // The harness reads the API description at its own time; wait, so that its event is not taken for one
        // of these requests.
        for (const host of hosts) await host.send('/healthz')
        const same = counterparts()
        same(here.partnerKey, there.partnerKey, 'partner key')
        for (const [index, [make, spelling, advanceMs]] of steps.entries()) {
          for (const clock of clocks) clock.advance(advanceMs)
          const plain = await make(here)
          const spoken = respell(await make(there), spelling)
          const [one, other] = await Promise.all([say(current, plain), say(old, spoken)])
          const at = `step ${index}, ${plain.operation} as ${spoken.method} ${spoken.path}`
          keep(here, plain, one)
          keep(there, plain, other)
          same(comparable(one), comparable(other), at)
          same(evidence(current), evidence(old), `${at}: decision`)
          const { aliases, operation, replayed } = old.decisions.at(-1)!
          if (replayed) replays++
          for (const alias of aliases) used.add(alias)
          if (operation !== undefined) operations.add(operation)
          assert.equal(
            'deprecation' in other.headers,
            aliases.length > 0,
            `${at}: deprecation is on every response`,
          )
        }
      } finally {
        await Promise.all(hosts.map(host => host.close()))
      }
    }

    await holds(t, fc.asyncProperty(history, run), { numRuns: 5, endOnFailure: true })
    const spoken = new Set<AliasKind>(['prefix', 'path', 'header', 'request-field', 'scope'])
    const spellable = listAliases(aliasTable).filter(({ kind, to }) => spoken.has(kind) && to !== null)
    const reachable = spellable.filter(
      ({ from, kind }) =>
        kind !== 'prefix' ||
        described.some(([, path]) => path.startsWith(spellable.find(row => row.from === from)?.to ?? '')),
    )
    t.same(
      reachable.map(({ id }) => id).filter(id => !used.has(id)),
      [],
      'every old name was spoken',
    )
    const ids = new Set(
      described.map(([, , { operationId }]) =>
        // An operation of both surfaces has one id.
        operationId
          .replace(/^partner_/, '')
          .replace('_', '.')
          .replace(/_\d+$/, ''),
      ),
    )
    t.same(
      [...ids].filter(id => !operations.has(id)),
      [],
      'every operation was asked',
    )
    t.ok(replays >= 5, `${replays} responses were replays`)
  },
)
