import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { startTestHost } from '../harness/host.ts'
import { isName } from '../harness/texts.ts'

const host = await startTestHost()
t.teardown(() => host.close())
interface Described {
  readonly operationId: string
  readonly deprecated?: boolean
  readonly responses: object
  readonly requestBody?: { readonly content: Record<string, { schema: object; example?: unknown }> }
}
const { body } = await host.send('/openapi.json')
const paths = body['paths'] as Record<string, Record<string, Described>>
const all = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, described]) => ({ path, method, ...described })),
)

t.test('is valid OpenAPI 3.1 by an independent validator', async t => {
  const result = await new Validator().validate(structuredClone(body))
  t.same(result, { valid: true })
  t.match(body, { openapi: '3.1.0', info: { version: '1.0.0', title: 'Gatewright Sandbox' } })
})

t.test('names every operation once, and keeps the legacy names of schemes and paths', async t => {
  const ids = all.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length)
  const schemes = (body['components'] as { securitySchemes: object }).securitySchemes
  t.match(schemes, { UserSessionBearer: { scheme: 'bearer' }, ConsumerSessionBearer: { scheme: 'bearer' } })
  for (const { path, deprecated } of all) {
    t.equal(deprecated ?? false, /consumer/.test(path), path)
  }
  for (const path of ['/consumer/v1/bootstrap', '/identity/consumer-api-keys', '/users/resolve'])
    t.ok(paths[path], path)
})

t.test('makes the old names of schemes and body fields from the alias table', async t => {
  const { securitySchemes } = body['components'] as { securitySchemes: Record<string, { name?: string }> }
  t.same(securitySchemes['ConsumerKey'], {
    ...securitySchemes['UserKey'],
    name: 'X-Consumer-Key',
    description: 'The old name of UserKey.',
  })
  const payin = paths['/user/v1/subscriptions/payin']?.['post'] as unknown as { security: object[] }
  t.same(payin.security, [{ UserSessionBearer: [] }, { ConsumerSessionBearer: [] }])
  const resolve = paths['/users/resolve']?.['post'] as unknown as {
    requestBody: { content: Record<string, { schema: { properties: Record<string, object> } }> }
  }
  const { properties } = resolve.requestBody.content['application/json']!.schema
  t.same(properties['externalUserId'], { ...properties['userId'], deprecated: true })
})

t.test('lets user operations answer only the statuses that their surface documents', async t => {
  const allowed = new Set(['200', '400', '401', '403', '404', '413', '415', '429', '500', '503'])
  for (const { path, responses } of all.filter(({ path }) => /^\/(user|identity)\//.test(path))) {
    t.same(
      Object.keys(responses).filter(status => !allowed.has(status)),
      [],
      path,
    )
  }
})

t.test('has examples for every operation that hold against its own schemas', async t => {
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, name: text => isName(text) },
  })
  const components = body['components']
  type Content = Record<string, { schema: object; example?: unknown }>
  for (const { path, method, responses, requestBody } of all) {
    const contents = [
      (responses as Record<string, { content: Content }>)['200']?.content['application/json'],
      requestBody?.content['application/json'],
    ]
    for (const content of contents.filter(each => each !== undefined)) {
      t.ok(content.example, `${method} ${path} has an example`)
      const validate = ajv.compile({ ...content.schema, components })
      t.ok(validate(content.example), `${method} ${path}: ${ajv.errorsText(validate.errors)}`)
    }
  }
})
