// Every list that a caller can read is paged, or says how many items it has at most.
import t from 'tap'
import * as internals from '../harness/internals.ts'
import { bearer, bootstrapUser, openTestHost } from '../harness/host.ts'
import { inlined } from '../harness/openapi.ts'
import { partnerUser } from './harness/partner.ts'
import { sampleOf } from '../harness/random-cases.ts'

interface Schema {
  readonly type?: unknown
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}
interface OperationDescription {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly maximum?: number } }[]
  readonly responses: {
    readonly 200?: { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
  }
}

/** Most items of any page: partners read up to 200 small transactions. */
const MOST = 200

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const document = (await host.send('/openapi.json')).body
const paths = inlined(document, document)['paths'] as Record<string, Record<string, OperationDescription>>
// The signing keys are the operator's: no caller adds one.
const reads = Object.entries(paths).flatMap(([path, { get }]) =>
  get && path !== '/.well-known/jwks.json' ? [{ path, ...get }] : [],
)

/** The arrays of a schema by their place. */
function arraysOf(schema: Schema, place = ''): (readonly [place: string, array: Schema])[] {
  const { properties = {}, items, anyOf = [], allOf = [], oneOf = [] } = schema
  return [
    ...(schema.type === 'array' ? [[place, schema] as const] : []),
    ...(items ? arraysOf(items, `${place}[]`) : []),
    ...Object.entries(properties).flatMap(([name, each]) => arraysOf(each, `${place}.${name}`)),
    ...[...anyOf, ...allOf, ...oneOf].flatMap(each => arraysOf(each, place)),
  ]
}

/** Whether a place in a response is the list of a page: a member of `data` beside `nextCursor`. */
const isPage = (place: string): boolean => /^(?:\.data)?\.[a-zA-Z]+$/.test(place)

/** The lists of a read that have no bound. */
function unbounded({ path, parameters = [], responses }: (typeof reads)[number]): string[] {
  const schemas = Object.values(responses[200]?.content ?? {}).map(({ schema }) => schema)
  const limit = parameters.find(({ name }) => name === 'limit')
  const isPaged =
    parameters.some(({ name }) => name === 'cursor') && (limit?.schema.maximum ?? Infinity) <= MOST
  return schemas
    .flatMap(schema => arraysOf(schema))
    .filter(([place, { maxItems }]) => maxItems === undefined && !(isPaged && isPage(place)))
    .map(([place]) => `GET ${path}: ${place}`)
}

const paged = reads.filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'cursor'))

t.test('finds the lists of the description', async t => {
  t.ok(paged.length >= 15, `${paged.length} paged lists`)
  t.ok(reads.length > 40, `${reads.length} reads`)
})

t.test('every list is paged, or says how many items it has at most', async t => {
  t.same([...new Set(reads.flatMap(unbounded))], [])
})

t.test('every list of money has from and to', async t => {
  const money =
    /\/(?:transactions|transactions\.csv|payins|payins\.csv|bills|payments|deposits|withdrawals|authorizations|subscriptions|requests)$/
  const lists = reads.filter(({ path }) => money.test(path))
  t.ok(lists.length >= 13, `${lists.length} lists`)
  for (const { path, parameters = [] } of lists)
    t.same(
      ['from', 'to'].filter(name => !parameters.some(each => each.name === name)),
      [],
      path,
    )
})

t.test('no surface has more scopes than a response says at most', async t => {
  const { userScopes, partnerScopes } = internals
  for (const { names } of [userScopes, partnerScopes]) t.ok(names.length <= 64)
})

/** Positions that no list gives out, as a list writes them. */
const ENCODED = ['at:1:', 'after:NaN', 'at:NaN:'].map(text => Buffer.from(text).toString('base64url'))

t.test('every paged list denies a limit and a cursor that it does not know', async t => {
  const { token } = await bootstrapUser(host.send)
  const scopes = ['cards.read', 'deposits.read', 'transactions.read']
  const partner = await partnerUser(host, 'usr-lists', scopes)
  const allowed: string[] = []
  for (const [at, { path, parameters = [] }] of paged.entries()) {
    const most = parameters.find(({ name }) => name === 'limit')?.schema.maximum as number
    const read = (query: string) => {
      const address = `${path.replaceAll(/\{\w+\}/g, 'unknown')}?${query}`
      return path.startsWith('/partner/') ? partner(address) : host.send(address, { headers: bearer(token) })
    }
    const wrong = [
      ...['0', '-1', '1.5', '', String(most + 1)].map(text => ['limit', text] as const),
      ...['', '0', 'x'.repeat(121), ...ENCODED].map(text => ['cursor', text] as const),
    ]
    for (const [field, text] of sampleOf([...wrong.slice(at % 11), ...wrong.slice(0, at % 11)])) {
      const { status, body } = await read(`${field}=${text}`)
      if (status !== 400 || body['field'] !== field) allowed.push(`${path}?${field}=${text}`)
    }
    t.match(
      await read('limit=1&limit=1'),
      { status: 400, body: { field: 'limit', message: 'limit must be given once' } },
      `${path} twice`,
    )
    // A list below an id responds with 404 for an unknown one.
    if (![200, 404].includes((await read(`limit=${most}`)).status)) allowed.push(path)
  }
  t.same(allowed, [])
})
