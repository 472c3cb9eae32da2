import type { Operation } from '@gatewright/host'
import { openApiDocument } from '#packages/host/dist/openapi/document.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../harness/host.ts'
import { inlined, resolved } from '../../harness/openapi.ts'
import { isName } from '../harness/texts.ts'

const host = await openTestHost(t)
interface OperationDescription {
  readonly operationId: string
  readonly deprecated?: boolean
  readonly security: readonly object[]
  readonly responses: Record<string, { content?: Content; headers: object }>
  readonly requestBody?: { readonly content: Content }
  readonly parameters: readonly {
    readonly name: string
    readonly description?: string
    readonly schema: object
  }[]
}
type Content = Record<string, { schema: Schema; example?: unknown }>
interface Schema {
  readonly title?: unknown
  readonly properties?: Readonly<Record<string, object>>
  readonly oneOf?: readonly Schema[]
}
const { body } = await host.send('/openapi.json')
const components = body['components'] as Record<string, Record<string, Schema & { description?: string }>>
const paths = inlined(body, body['paths']) as Record<string, Record<string, OperationDescription>>
const all = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, described]) => ({ path, method, ...described })),
)

t.test('takes a chain as a CAIP-2 id wherever a request names one', async t => {
  interface Described extends Schema {
    readonly properties?: Readonly<Record<string, Described>>
  }
  const chains = (schema: Described): Described[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
      ...(/^chain_?id$/i.test(name) ? [member] : []),
      ...chains(member),
    ])
  const members = all.flatMap(({ operationId, requestBody, parameters }) =>
    [
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        [schema, ...(schema.oneOf ?? [])].flatMap(each => chains(each)),
      ),
      ...parameters.filter(({ name }) => /^chain/i.test(name)).map(({ schema }) => schema),
    ].map(member => [operationId, member] as const),
  )
  t.ok(members.length >= 5, `${members.length} members`)
  for (const [operationId, member] of members) {
    const takes = new Ajv2020({ strict: false }).compile(member)
    t.same(
      [8453, '8453', 'eip155:8453'].map(each => takes(each)),
      [true, true, true],
      operationId,
    )
    t.same(
      [0, 'eip155:', 'eip155:0', 'solana:1'].map(each => takes(each)),
      [false, false, false, false],
      operationId,
    )
  }
})

t.test('names every operation once, and keeps the legacy names of schemes and paths', async t => {
  const ids = all.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length)
  const schemes = (body['components'] as { securitySchemes: object }).securitySchemes
  t.match(schemes, { UserSessionBearer: { scheme: 'bearer' }, ConsumerSessionBearer: { scheme: 'bearer' } })
  const deprecated = new Set(all.filter(operation => operation.deprecated).map(({ path }) => path))
  t.same([...deprecated], [...new Set(all.map(({ path }) => path).filter(path => path.includes('consumer')))])
  const legacy = ['/consumer/v1/bootstrap', '/identity/consumer-api-keys', '/users/resolve']
  t.same(
    legacy.filter(path => !paths[path]),
    [],
  )
})

t.test('takes the legacy names of schemes and body members from the alias table', async t => {
  const { securitySchemes } = body['components'] as { securitySchemes: Record<string, { name?: string }> }
  t.same(securitySchemes['ConsumerKey'], {
    ...securitySchemes['UserKey'],
    name: 'X-Consumer-Key',
    description: 'The old name of UserKey.',
  })
  const payin = paths['/user/v1/subscriptions/payin']?.['post']
  const needed = ['subscriptions.write']
  t.same(payin?.security, [{ UserSessionBearer: needed }, { ConsumerSessionBearer: needed }])
  const resolve = paths['/users/resolve']?.['post']
  const properties = resolve?.requestBody?.content['application/json']?.schema.properties ?? {}
  t.same(properties['externalUserId'], { ...properties['userId'], deprecated: true })
})

t.test('lets user operations return only the statuses that their surface documents', async t => {
  const allowed = new Set(['200', '400', '401', '403', '404', '413', '415', '429', '500', '503'])
  const others = all
    .filter(({ path }) => /^\/(user|identity(?!\/kyc))\//.test(path))
    .flatMap(({ path, responses }) => Object.keys(responses).map(status => ({ path, status })))
    .filter(({ status }) => !allowed.has(status))
  t.same(others, [])
})

t.test('has examples for every operation that hold against its own schemas', async t => {
  const ajv = new Ajv2020({
    strict: false,
    code: { optimize: false },
    inlineRefs: false,
    meta: false,
    validateSchema: false,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, name: text => isName(text) },
  })
  // Each component is compiled once, and not in each schema that refers to it.
  ajv.addSchema({ $id: 'document', components })
  const document = JSON.parse(
    JSON.stringify(body).replaceAll('"$ref":"#/', '"$ref":"document#/'),
  ) as typeof body
  const operations = Object.entries(document['paths'] as typeof paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const given = (part: object | undefined): { readonly content?: Content } =>
    part && '$ref' in part ? resolved(document, String(part.$ref).replace('document', '')) : (part ?? {})
  const contentsOf = ({ responses, requestBody }: OperationDescription) =>
    [given(responses['200']).content, given(requestBody).content]
      .flatMap(each => Object.entries(each ?? {}))
      .flatMap(([mediaType, content]) => (mediaType.startsWith('text/') ? [] : [content]))
  const wrong = operations.flatMap(operation =>
    contentsOf(operation).flatMap(({ example, schema }) => {
      const where = `${operation.method} ${operation.path}`
      if (!example) return [`${where} has no example`]
      const validate = ajv.compile(schema)
      return validate(example) ? [] : [`${where}: ${ajv.errorsText(validate.errors)}`]
    }),
  )
  t.equal(operations.flatMap(contentsOf).length, all.flatMap(contentsOf).length, 'none is behind a reference')
  t.same(wrong, [])
})

t.test('names and describes every schema that it uses, and uses every schema that it names', async t => {
  const references = new Set(
    [...JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)].map(found => found[1] as string),
  )
  t.same(
    [...references].filter(reference => !resolved(body, reference)),
    [],
    'named',
  )
  const named = Object.entries(components)
    .filter(([section]) => section !== 'securitySchemes')
    .flatMap(([section, members]) => Object.keys(members).map(name => `#/components/${section}/${name}`))
  t.same(
    named.filter(name => !references.has(name)),
    [],
    'used',
  )
  const schemas = Object.entries(components['schemas'] ?? {})
  t.same(
    schemas.filter(([, { description }]) => !description),
    [],
    'described',
  )
  const expected = ['Error', 'PartnerError', 'Success', 'User', 'ApiKey', 'Session', 'Card', 'Plan', 'Payin']
  t.same(
    expected.filter(name => !components['schemas']?.[name]),
    [],
  )
  const parameters = all.flatMap(({ path, parameters }) => parameters.map(each => ({ path, ...each })))
  t.same(
    parameters.filter(({ description }) => !description),
    [],
    'parameters are described',
  )
})

t.test('offers each response of an operation as an Open Responses object too, but no document', async t => {
  const wrong = all.flatMap(({ path, responses, parameters }) => {
    const offered = parameters.some(({ name }) => name === 'X-Open-Responses')
    const wanted = /^\/(user|partner|consumer|access|identity(?!\/kyc)|users)\//.test(path)
    const places = Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).flatMap(([type, { schema }]) => {
        const isDocument = path.startsWith('/access/') && status === '200'
        const found = schema.oneOf?.map(each => 'object' in (each.properties ?? {}))
        const expected = offered && type === 'application/json' && !isDocument ? [false, true] : undefined
        return isDeepStrictEqual(found, expected) ? [] : [`${path} ${status}`]
      }),
    )
    return offered === wanted ? places : [path, ...places]
  })
  t.same(wrong, [])
})

t.test('serves the key set under its own media type, as described', async t => {
  const { headers } = await host.send('/.well-known/jwks.json')
  t.equal(headers.get('content-type'), 'application/jwk-set+json')
  const described = paths['/.well-known/jwks.json']?.['get']?.responses['200']?.content
  t.same(Object.keys(described ?? {}), ['application/jwk-set+json'])
})

t.test('documents the denial of a body wherever one is read, also where it is not used', async t => {
  const { token } = await bootstrapUser(host.send)
  const headers = { ...bearer(token), 'content-type': 'text/plain' }
  const response = await host.send('/user/v1/sessions/current', { method: 'DELETE', body: 'text', headers })
  t.equal(response.status, 415)
  const wrong = all.filter(({ method, responses }) =>
    ['413', '415'].some(status => status in responses !== (method !== 'get')),
  )
  t.same(
    wrong.map(({ path, method }) => `${method} ${path}`),
    [],
  )
})

t.test('offers a user key besides a session only where the host accepts it', async t => {
  const direct = await openTestHost(t, { DIRECT_USER_KEY: 'on' })
  const { body: other } = await direct.send('/openapi.json')
  const balances = (other['paths'] as typeof paths)['/user/v1/balances']?.['get']
  const needed = ['balances.read']
  const session = [{ UserSessionBearer: needed }, { ConsumerSessionBearer: needed }]
  t.same(balances?.security, [...session, { UserKey: needed }, { ConsumerKey: needed }])
  t.same(paths['/user/v1/balances']?.['get']?.security, session)
  const { key } = await bootstrapUser(direct.send)
  t.equal((await direct.send('/user/v1/balances', { headers: { 'x-user-key': key } })).status, 200)
  t.equal((await direct.send('/user/v1/balances', { headers: { 'x-consumer-key': key } })).status, 200)
})

t.test('refuses two different schemas with one name, and an invalid name', async t => {
  const describe = (...replies: object[]): unknown => {
    const table = replies.map((response, n) => ({
      id: `test.t${n}`,
      title: 'Test',
      surface: 'public',
      method: 'GET',
      paths: [`/${n}`],
      credential: 'none',
      limit: 'none',
      document: true,
      response,
      example: { response: {} },
    })) as unknown as Operation[]
    return openApiDocument(table, {
      serviceName: 'Test',
      url: '/',
      aliases: {},
      documentation: { introduction: '', groups: {} },
      directUserKey: false,
    })
  }
  const card = { type: 'object', title: 'Card', properties: { title: { type: 'string' } } }
  t.match(describe(card, { ...card }), { components: { schemas: { Card: { type: 'object' } } } })
  t.throws(() => describe(card, { ...card, properties: {} }), {
    message: 'two different schemas have the title Card',
  })
  t.throws(() => describe({ ...card, title: 'a card' }), {
    message: 'schema title "a card" must be a name such as "ApiKey"',
  })
})
