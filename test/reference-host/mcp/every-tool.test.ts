// Each tool of a host, held against its own schema, and against the request of the HTTP API for which its call stands.
import { randomUUID } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, openTestHost, type HttpResponse } from '../../harness/host.ts'
import { inlined } from '../../harness/openapi.ts'
import { kycBody } from '../harness/kyc.ts'
import { newMoneyUser } from '../harness/money.ts'
import { connected, saidBy } from '../../host/http/mcp/mcp-client.ts'

interface Described {
  readonly method: string
  readonly path: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly requestBody?: { content: { 'application/json': { example?: object } } }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

// A clock of its own: no chore changes a record between two reads.
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, manualClock())
const { send, url } = host
const user = await newMoneyUser(send)
await user.write('/kyc', kycBody('Approved'))
await user.write('/agreements', { accepted: true })
await user.fund(10_000_000)
const headers = bearer(user.token)
const client = await connected(t, url, user.token)
const { tools } = await client.listTools()
// One for all: it compiles its own schema first.
const ajv = new Ajv2020({ strict: true, formats: { 'date-time': true } })

const { body: description } = await send('/openapi.json')
const operations = new Map<string, Described>()
for (const [path, item] of Object.entries(description['paths'] as Record<string, Record<string, object>>))
  for (const [method, operation] of Object.entries(item)) {
    const { operationId } = operation as { operationId: string }
    const isFirst = !/_\d+$/.test(operationId) && !('deprecated' in operation)
    if (isFirst && !path.startsWith('/partner/'))
      operations.set(operationId.replace('_', '.'), {
        ...inlined(description, operation as Described),
        method: method.toUpperCase(),
        path,
      })
  }

const described = (name: string): Described => {
  const found = operations.get(name)
  if (!found) throw new Error(`no operation is called ${name}`)
  return found
}

t.test('a name is that of the operation, in characters that the protocol allows', async t => {
  for (const { name } of tools) {
    t.match(name, /^[A-Za-z0-9_.-]{1,128}$/)
    t.ok(operations.has(name), name)
  }
  t.ok(tools.length > 50, `${tools.length} tools`)
})

t.test(
  'no tool reveals a secret, makes or changes a credential, or states something for the person',
  async t => {
    const names = new Set(tools.map(({ name }) => name))
    const left = [...operations].filter(
      ([name, { security }]) => !names.has(name) && security.some(each => 'UserSessionBearer' in each),
    )
    t.same(left.map(([name]) => name).toSorted(), [
      'access.evaluate',
      'agreements.accept',
      'approvals.approve',
      'approvals.deny',
      'cards.openSecrets',
      'cards.reveal',
      'crypto.decrypt',
      'crypto.encrypt',
      'identity.dataKey',
      'keys.change',
      'keys.create',
      'keys.pause',
      'keys.resume',
      'keys.revoke',
      'keys.rotate',
      'kyc.submit',
      'requests.export',
      'sessions.create',
      'sessions.end',
      'subscriptions.exportPayins',
      'transactions.export',
    ])
  },
)

for (const tool of tools)
  t.test(
    `${tool.name}: its schema is valid and takes its example, and its call is the request of HTTP`,
    async t => {
      const { method, path, requestBody } = described(tool.name)
      const example = requestBody?.content['application/json'].example ?? {}
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
      const params = Object.fromEntries(names.map(name => [name, 'nothing-0001']))
      const { required = [], properties = {} } = tool.inputSchema
      const intent = 'intent' in properties ? { intent: `try ${tool.name}` } : {}
      const given = { ...params, ...example, ...intent }
      const validate = ajv.compile(tool.inputSchema)
      t.ok(validate(given), JSON.stringify(validate.errors))
      t.equal(required.includes('intent'), tool.annotations?.idempotentHint === true && method !== 'GET')
      t.ok(tool.description && tool.title)

      const key = randomUUID()
      const target = path.replaceAll(/\{\w+\}/g, 'nothing-0001')
      const byHttp: HttpResponse = await send(target, {
        method,
        headers: { ...headers, 'idempotency-key': key },
        ...(method === 'GET' ? {} : { body: example }),
      })
      const { intent: _, ...unnamed } = given as Record<string, unknown>
      const result = await client.callTool({
        name: tool.name,
        arguments: unnamed,
        _meta: { 'idempotency-key': key },
      })
      const said = saidBy(result)
      t.not(said['error'], 'invalid_request')
      t.equal(said['error'], byHttp.body['error'])
      if (tool.annotations?.readOnlyHint || 'intent' in properties)
        t.same(said['data'] ?? {}, byHttp.body.data ?? {})
      const [decision] = host.decisions.filter(({ operation }) => operation === tool.name).slice(-1)
      t.match(decision, { byTool: true, method, route: path.replaceAll(/\{(\w+)\}/g, ':$1') })
    },
  )
