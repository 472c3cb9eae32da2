// A Fastify API that was renamed, with legacy-alias-router alone: no other package of Gatewright is needed.
import {
  aliasReport,
  responseHeaders,
  createAliases,
  createUsageLog,
  reportText,
} from '@gatewright/legacy-alias-router'
import type { AliasTable, MatchedAlias } from '@gatewright/legacy-alias-router'
import { memoryAliasUsage } from '@gatewright/legacy-alias-router/memory'
import Fastify, { type FastifyRequest } from 'fastify'

const mode = {
  deprecatedSince: Date.UTC(2026, 0, 1),
  sunset: Date.UTC(2027, 0, 1),
  link: 'https://example.com/docs/legacy',
}
/** Every old name, as data. `/api` has ended; the rest still works and says until when. */
const table: AliasTable = {
  prefixes: [
    { from: '/consumer/v1', to: '/user/v1', mode },
    { from: '/api', to: '/user/v1', mode: 'gone' },
  ],
  headers: [{ from: 'x-consumer-key', to: 'x-user-key', mode }],
  requestFields: [{ operation: 'keys.create', from: 'rights', to: 'scopes', mode }],
  responseFields: [{ from: 'consumerKeyId', to: 'userKeyId', mode }],
  scopes: [{ surface: 'user', from: 'card.read', to: 'cards.read', mode }],
}
const aliases = createAliases(table)
// In production: redisAliasUsage, postgresAliasUsage or sqliteAliasUsage.
const storage = memoryAliasUsage()
const usage = createUsageLog({ storage, onFailure: error => console.error('alias usage:', error) })

/** What a request said in old names, by its raw request, which exists before Fastify's own. */
const used = new WeakMap<object, MatchedAlias[]>()
const usedBy = ({ raw }: FastifyRequest): MatchedAlias[] => used.get(raw) ?? []

const app = Fastify({
  // Fastify routes before any hook runs, so paths and headers are translated here.
  rewriteUrl(raw) {
    const [path = '', ...query] = (raw.url ?? '').split('?')
    const resolved = aliases.resolve({ path, header: name => raw.headers[name]?.toString() })
    if (!resolved.ok) {
      used.set(raw, [...resolved.used])
      denials.set(raw, resolved)
      return '/denied'
    }
    used.set(raw, [...resolved.value.used])
    Object.assign(raw.headers, resolved.value.headers)
    return [resolved.value.path, ...query].join('?')
  },
})
const denials = new WeakMap<object, { status: number; code: string; message: string }>()

app.addHook('onRequest', async ({ raw }, reply) => {
  const denial = denials.get(raw)
  if (denial) return reply.code(denial.status).send({ error: denial.code, message: denial.message })
  return undefined
})
// On every response, errors included.
app.addHook('onSend', async (request, reply) => {
  for (const [name, value] of responseHeaders(usedBy(request))) reply.header(name, value)
})
app.addHook('onResponse', async request => {
  // A real API has proven the key by now; here any text counts as one.
  const key = request.headers['x-user-key']?.toString()
  usage.record(
    key,
    usedBy(request).map(({ alias }) => alias.id),
  )
})

app.post('/user/v1/keys', async (request, reply) => {
  const fields = aliases.readFields('keys.create', (request.body ?? {}) as Record<string, unknown>)
  usedBy(request).push(...(fields.ok ? fields.value.used : fields.used))
  if (!fields.ok) return reply.code(fields.status).send({ error: fields.code, message: fields.message })
  const asked = fields.value.body['scopes']
  const scopes = aliases.readScopes('user', Array.isArray(asked) ? asked.map(String) : [])
  usedBy(request).push(...(scopes.ok ? scopes.value.used : scopes.used))
  if (!scopes.ok) return reply.code(scopes.status).send({ error: scopes.code, message: scopes.message })
  return aliases.withLegacyFields({ userKeyId: 'key_1', scopes: scopes.value.scopes })
})
app.get('/user/v1/keys', request => ({ key: request.headers['x-user-key'] ?? null }))
app.get('/report', async () => {
  await usage.flush()
  return reportText(await aliasReport(storage, table, Date.now()))
})

const url = await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' })
console.log(`listens on ${url}

curl -i ${url}/consumer/v1/keys -H 'x-consumer-key: ann'
curl -i ${url}/consumer/v1/keys -H 'content-type: application/json' -d '{"rights":["card.read"]}'
curl -i ${url}/api/keys
curl ${url}/report`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void app
      .close()
      .then(() => usage.flush())
      .then(() => process.exit(0))
  })
}
