import { isDeepStrictEqual } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { parsePolicy } from '@gatewright/scope-guard'
import t from 'tap'
import { openTestHost } from '../../harness/host.ts'
import { resolved } from '../../harness/openapi.ts'

interface Described {
  readonly operationId: string
  readonly security: readonly object[]
  readonly parameters: readonly { readonly name: string }[]
  readonly responses: Record<string, { readonly $ref?: string }>
}
interface Success {
  readonly content: Record<string, { readonly schema: Record<string, unknown> }>
}

const host = await openTestHost(t)
const { body } = await host.send('/openapi.json?for=sdk')
const { body: full } = await host.send('/openapi.json')
const text = JSON.stringify(body)
const operations = Object.entries(body['paths'] as Record<string, Record<string, Described>>).flatMap(
  ([path, item]) => Object.entries(item).map(([method, described]) => ({ path, method, ...described })),
)

t.test('the description for generators of clients is valid OpenAPI 3.1', async t => {
  t.same(await new Validator().validate(structuredClone(body)), { valid: true })
})

t.test('has each operation that clients call once, and no old name', async t => {
  const ids = operations.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length)
  const left = Object.values(full['paths'] as Record<string, Record<string, Described>>)
    .flatMap(item => Object.entries(item).map(([method, described]) => ({ method, ...described })))
    .filter(({ operationId }) => !ids.includes(operationId.replace(/_\d+$/, '')))
  t.ok(left.some(({ operationId }) => operationId === 'auth_openCli'))
  // Documents for everybody and redirects for browsers. The events of providers are signed.
  t.same(
    left
      .filter(({ method, security }) => method !== 'get' || security.length > 0)
      .map(each => each.operationId),
    ['system_providerEvents'],
  )
  t.same(text.match(/consumer|externalUserId|older clients|"deprecated":true/gi), null)
})

t.test('has one object for each success, and no Open Responses object', async t => {
  t.same(text.match(/OpenResponse|"allOf"|"example"/g), null)
  const wrong = operations.filter(({ responses }) => {
    const { content } = resolved(body, responses['200']?.$ref as string) as unknown as Success
    const schema = content['application/json']?.schema
    // Texts and documents have no envelope.
    if (schema === undefined || '$ref' in schema) return false
    const { data } = schema['properties'] as { data: { $ref: string } }
    const isEnvelope =
      schema['type'] === 'object' &&
      isDeepStrictEqual(schema['required'], ['ok', 'data', 'summary', 'errors'])
    return !isEnvelope || !resolved(body, data.$ref)['description']
  })
  t.same(
    wrong.map(({ method, path }) => `${method} ${path}`),
    [],
  )
})

t.test('has no component that nothing refers to', async t => {
  const { securitySchemes: _, ...sections } = body['components'] as Record<string, object>
  const names = Object.entries(sections).flatMap(([section, members]) =>
    Object.keys(members).map(name => `"#/components/${section}/${name}"`),
  )
  t.same(
    names.filter(name => !text.includes(name)),
    [],
  )
  t.notOk('Success' in (sections['schemas'] as object))
})

t.test('shows the members of a policy that the guard knows', async t => {
  const schemas = (body['components'] as { schemas: Record<string, { properties: object }> }).schemas
  const known = (policy: object): string[] => {
    const parsed = parsePolicy(policy)
    return parsed.ok ? [] : (parsed.message.split('known: ')[1] ?? '').split(', ')
  }
  t.same(Object.keys(schemas['Policy']?.properties ?? {}), known({ qqqqqqqqqqqq: 1 }))
  t.same(Object.keys(schemas['PolicyLimit']?.properties ?? {}), known({ limits: [{ qqqqqqqqqqqq: 1 }] }))
})

t.test('has entity tags of its own, and is served for no other reader', async t => {
  const first = await fetch(`${host.url}/openapi.json?for=sdk`)
  const etag = first.headers.get('etag') ?? ''
  const again = (path: string): Promise<Response> =>
    fetch(host.url + path, { headers: { 'if-none-match': etag } })
  t.equal((await again('/openapi.json?for=sdk')).status, 304)
  t.equal((await again('/openapi.json')).status, 200)
  t.match(await host.send('/openapi.json?for=people'), {
    status: 400,
    body: { error: 'invalid_request', field: 'for', message: 'for must be sdk.' },
  })
})
