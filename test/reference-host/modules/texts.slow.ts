import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { HttpResponse } from '../../harness/host.ts'
import { bearer, bootstrapUser, newWallet, signedBootstrap, openTestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { inlined } from '../../harness/openapi.ts'
import type { Place, Schema } from '../harness/texts.ts'
import { HOSTILE_ESCAPES, HOSTILE_TEXTS, nestedJson, put, STORE_TEXTS, textPlaces } from '../harness/texts.ts'

t.setTimeout(1_800_000)
const host = await openTestHost(t, { RATE_LIMITS: 'off' })

interface OperationDescription {
  readonly operationId: string
  /** A legacy spelling of another path. */
  readonly deprecated?: boolean
  readonly security: readonly Record<string, unknown>[]
  readonly parameters: readonly { name: string; in: string }[]
  readonly requestBody?: {
    readonly content: { 'application/json': { schema: Schema; example?: Record<string, unknown> } }
  }
}
const published = (await host.send('/openapi.json')).body
const description = inlined(published, published)
const operations = Object.entries(
  description['paths'] as Record<string, Record<string, OperationDescription>>,
)
  // Provider events are signed: a changed text is a bad signature.
  .filter(([path]) => path !== '/metrics' && path !== '/providers/{name}/events')
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, each]) => ({ path, method: method.toUpperCase(), ...each })),
  )
type Operation = (typeof operations)[number]
/** Each operation once: further paths of one have a number after their id. */
const current = operations.filter(each => each.deprecated !== true && !/_\d$/.test(each.operationId))

const user = await bootstrapUser(host.send)
const partner = { 'x-partner-key': host.partnerKey }
const resolve = (userId: string): Promise<HttpResponse> =>
  host.send('/partner/v1/users/resolve', { body: { userId }, headers: partner })
const open = (body: object): Promise<HttpResponse> =>
  host.send('/partner/v1/sessions', { body, headers: partner })
await resolve('ann')
const partnerScopes = internals.partnerScopes.names
const partnerToken = (await open({ userId: 'ann', scopes: partnerScopes })).body.data[
  'sessionToken'
] as string

/** Headers with every credential that an operation accepts, and a new idempotency key. */
function credentials({ security }: Operation): Record<string, string> {
  const names = security.flatMap(Object.keys)
  const token = names.includes('PartnerSessionBearer') ? partnerToken : user.token
  const byKey = names.includes('PartnerKey') ? partner : {}
  return { ...bearer(token), ...byKey, 'idempotency-key': randomUUID() }
}

const payinOf = async (): Promise<string> => {
  const headers = { ...bearer(user.token), 'idempotency-key': randomUUID() }
  const made = await host.send('/user/v1/subscriptions/payin', { body: { amountCents: 1 }, headers })
  return (made.body.data['payin'] as { id: string }).id
}
const payinId = await payinOf()

/** A valid body: the published example, with existing ids in place of example ids. */
async function goodBody(
  { operationId, requestBody }: Operation,
  member?: unknown,
): Promise<Record<string, unknown>> {
  if (operationId.startsWith('auth_bootstrap')) return signedBootstrap(newWallet())
  const { userId, ...rest } = requestBody?.content['application/json'].example ?? {}
  // A legacy name besides its current one must have the same value.
  const example = userId === undefined || member === 'externalUserId' ? rest : { userId, ...rest }
  return { ...example, ...('payinId' in example ? { payinId } : {}) }
}

const sent = async (operation: Operation, body: unknown, path = operation.path): Promise<HttpResponse> => {
  const { method } = operation
  const options = method === 'GET' || method === 'DELETE' ? { method } : { method, body }
  return host.send(path, { ...options, headers: credentials(operation) })
}

/** All texts of a response under one member name. */
function texts(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [
    ...(key === name && typeof each === 'string' ? [each] : []),
    ...texts(each, name),
  ])
}

/** The field that a schema's denial names. A legacy name is denied under its current one. */
const fieldOf = (at: Place['at']): string =>
  at.map(name => (name === 'externalUserId' ? 'userId' : name)).join('.')

/** What is wrong with the response to a body with a text in one place; undefined when nothing is. */
async function problem(
  operation: Operation,
  { at, takes }: Place,
  text: string,
): Promise<string | undefined> {
  const path = operation.path.replaceAll(/\{\w+\}/g, 'unknown')
  const { status, body } = await sent(operation, put(await goodBody(operation, at[0]), at, text), path)
  if (status >= 500) return `responds with ${status}`
  const lost = !text.isWellFormed() || text.includes('\0')
  if (lost || takes?.(text) === false) {
    const [field, named] = [String(body['field']), lost ? String(at[0]) : fieldOf(at)]
    return status === 400 && field === named ? undefined : `responds with ${status} with the field ${field}`
  }
  if (status >= 300) return undefined
  const echoes = texts(body, String(at.at(-1)))
  return echoes.every(echo => echo === text) ? undefined : `comes back as ${JSON.stringify(echoes)}`
}

t.test('no text in a body causes a 5xx, and accepted texts are returned unchanged', async t => {
  const all = Object.entries(HOSTILE_TEXTS)
  const forStores = all.filter(([what]) => STORE_TEXTS.includes(what))
  // What the host itself denies is the same on every store, and for every member with the same rule.
  const onOtherStore = process.env['TEST_HOST_STORES'] !== undefined
  const seen = new Set<string>()
  const textsFor = ({ rule }: Place): typeof all => {
    if (onOtherStore || (rule !== undefined && seen.has(rule))) return forStores
    if (rule !== undefined) seen.add(rule)
    return all
  }
  const withBody = current.filter(({ requestBody }) => requestBody !== undefined)
  t.ok(withBody.length >= 11, 'the table was read')
  let [asked, names] = [0, 0]
  for (const operation of withBody) {
    const { schema } = operation.requestBody?.content['application/json'] as { schema: Schema }
    const places: Place[] = [...textPlaces(schema), { at: ['unknownMember'], rule: 'none' }]
    names += places.filter(({ takes }) => takes).length
    for (const place of places) {
      const found = await Promise.all(
        textsFor(place).map(async ([what, text]) => {
          const wrong = await problem(operation, place, text)
          return wrong === undefined ? [] : [`${place.at.join('.')}: ${what} ${wrong}`]
        }),
      )
      asked += found.length
      t.same(found.flat(), [], `${operation.method} ${operation.path}`)
    }
  }
  t.ok(names >= 6, 'names were among them')
  t.comment(`${asked} requests`)
  t.same(host.failures, [])
})

t.test(
  'responds with 404 to a path parameter that is not an id, also when it starts with an existing id',
  async t => {
    const withId = current.filter(({ path }) => path.includes('{'))
    t.ok(withId.length >= 5, 'the table was read')
    const keys = await host.send('/user/v1/keys', { headers: bearer(user.token) })
    const { id: keyId } = (keys.body['keys'] as { id: string }[])[0] as { id: string }
    for (const [n, operation] of withId.entries()) {
      // A change of a key must change something; the other requests about keys deny unknown members.
      const change = operation.method === 'PATCH' && operation.path.includes('keys') ? { revoke: true } : {}
      const good = { ...(await goodBody(operation)), ...change }
      // Ids are checked in one place, so one operation tries everything behind an existing id.
      const paths = (n === 0 ? ['', keyId, payinId] : ['']).flatMap(id =>
        HOSTILE_ESCAPES.map(each => operation.path.replaceAll(/\{\w+\}/g, () => id + each)),
      )
      const statuses = await Promise.all(
        paths.map(async path => [path, (await sent(operation, good, path)).status] as const),
      )
      const wrong = statuses.filter(([, status]) => status !== 404)
      t.same(wrong, [], `${operation.method} ${operation.path}`)
    }
    t.same(host.failures, [])
  },
)

t.test('responds with 400 to an invalid query parameter and names it', async t => {
  let asked = 0
  const takesWords = new Set(['q', 'rule', 'keyId', 'keyLineageId'])
  // A redirect of a browser drops what is no id.
  for (const operation of current.filter(({ path }) => path !== '/auth/cli')) {
    for (const { name } of operation.parameters.filter(each => each.in === 'query')) {
      const responses = await Promise.all(
        HOSTILE_ESCAPES.map(async escaped => {
          const { status, body } = await sent(operation, undefined, `${operation.path}?${name}=${escaped}`)
          return { escaped, status, field: body['field'] }
        }),
      )
      const wrong = responses
        // A search takes any short word, and a word may be the name of a rule or the id of a key.
        .filter(
          ({ escaped, status }) => !(takesWords.has(name) && /^\w{1,40}$/.test(escaped) && status === 200),
        )
        // The text of a search is compared with other texts, and is neither stored nor sent to the database.
        .filter(({ status }) => name !== 'q' || (status !== 200 && status !== 429))
        .filter(({ status, field }) => status !== 400 || field !== name)
      t.same(wrong, [], `${operation.path} ${name}`)
      asked += responses.length
    }
  }
  t.ok(asked > 100, 'the table was read')
  t.same(host.failures, [])
})

t.test(
  'responds with 400 to JSON that is too deep or not UTF-8, and ignores a member named __proto__',
  async t => {
    for (const [n, operation] of current.filter(({ requestBody }) => requestBody !== undefined).entries()) {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'unknown')
      const good = await goodBody(operation)
      // Bodies are parsed before anything looks at their members, so one operation shows that the name does not matter.
      const members =
        n === 0 ? ['unknownMember', 'metadata', 'policy', 'userId', 'scopes'] : ['unknownMember']
      for (const [member, levels] of members.flatMap(member =>
        [33, 5000, 60_000].map(levels => [member, levels] as const),
      )) {
        const { [member]: _replaced, ...rest } = good
        const body = JSON.stringify({ ...rest, last: 0 }).replace(
          '"last":0',
          () => `"${member}":${nestedJson(levels - 1)}`,
        )
        const response = await sent(operation, body, path)
        t.match(
          response,
          { status: 400, body: { field: member } },
          `${operation.path} ${member}: ${levels} levels`,
        )
      }
      const body = Buffer.from('{"unknownMember":"bob\u00ff"}', 'latin1')
      const headers = { 'content-type': 'application/json', ...credentials(operation) }
      const { status } = await fetch(host.url + path, { method: operation.method, headers, body })
      t.equal(status, 400, `${operation.path}: bytes that are not UTF-8`)
      const required = operation.requestBody?.content['application/json'].schema.required ?? []
      const proto = await sent(operation, `{"__proto__":${JSON.stringify(good)}}`, path)
      if (required.length > 0)
        t.equal(proto.status, 400, `${operation.path}: what is required is not inherited`)
      else t.ok(proto.status < 500, `${operation.path}: __proto__`)
    }
    t.same(host.failures, [])
  },
)

t.test('returns metadata and unknown members of a pay-in unchanged', async t => {
  // One pay-in for each of them, since the members of a pay-in have at most 4 KiB. Each text is sent three times.
  const kept = Object.values(HOSTILE_TEXTS).filter(
    text => text.isWellFormed() && !text.includes('\0') && Buffer.byteLength(JSON.stringify(text)) < 1300,
  )
  t.ok(kept.length > 10, `${kept.length} texts`)
  for (const [index, text] of kept.entries()) {
    const properties = { metadata: { [text]: { deep: [index, text] } }, [text]: [text] }
    const body = JSON.stringify({ amountCents: 1, ...properties }).replace('{', '{"__proto__":{"a":1},')
    const headers = { ...bearer(user.token), 'idempotency-key': randomUUID() }
    const made = await host.send('/user/v1/subscriptions/payin', { body, headers })
    t.equal(made.status, 200)
    const { id } = made.body.data['payin'] as { id: string }
    const read = await host.send(`/user/v1/subscriptions/payins/${id}`, { headers: bearer(user.token) })
    const { properties: echoed } = read.body.data['payin'] as { properties: object }
    t.equal(JSON.stringify(echoed), JSON.stringify(JSON.parse(body.replace('"amountCents":1,', ''))))
  }
})
