import { Fault, type Denial } from '@gatewright/kernel'
import { fromSqlite } from '@gatewright/kernel/sql'
import { createIssuer, type ApiKey, type Issuer } from '@gatewright/session-issuer'
import { migrateCredentials, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import Database from 'libsql'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'

/** The response to an exchange. */
interface HttpResponse {
  readonly status: number
  readonly body: object
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** An issuer over a database file. A real service keeps the two secrets in its configuration. */
export async function openIssuer(path: string): Promise<Issuer> {
  const db = fromSqlite(new Database(path))
  await migrateCredentials(db)
  return createIssuer({
    issuer: 'https://keys.example',
    audience: 'https://api.example',
    environment: 'sandbox',
    peppers: [{ id: 'p1', secret: randomBytes(32) }],
    ...sqliteCredentials(db, { encryptionKey: randomBytes(32) }),
  })
}

const denied = ({ status, code, message, field }: Denial): HttpResponse => ({
  status,
  body: { error: code, message, ...(field === undefined ? {} : { field }) },
})

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body: unknown = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
  return Object(body) as Record<string, unknown>
}

/** Only texts count as scopes; everything else about them the issuer decides. */
const scopesOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter(one => typeof one === 'string') : undefined

async function mint(issuer: Issuer, key: ApiKey, request: IncomingMessage): Promise<HttpResponse> {
  const { scopes, ttlSeconds } = await bodyOf(request)
  const wanted = scopesOf(scopes)
  const minted = await issuer.issueSession(key, {
    ...(wanted ? { scopes: wanted } : {}),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds: ttlSeconds as number }),
  })
  if (!minted.ok) return denied(minted)
  const { token, session } = minted.value
  return { status: 201, body: { token, expiresAt: session.expiresAt, scopes: session.scopes } }
}

async function reply(issuer: Issuer, request: IncomingMessage): Promise<HttpResponse> {
  if (request.url === '/.well-known/jwks.json') {
    const { keys, headers } = await issuer.jwks()
    return { status: 200, body: { keys }, headers }
  }
  const found = await issuer.authenticateKey(request.headers['x-user-key'], 'user')
  if (!found.ok) return denied(found)
  // No key of this service has a policy. Where keys have some, ask a guard's `authorize` before any use of the key.
  if (request.url === '/sessions') return mint(issuer, found.value, request)
  if (request.url === '/keys/rotate') {
    const rotated = await issuer.rotateKey(found.value, found.value.id, { overlapSeconds: 60 })
    return rotated.ok ? { status: 201, body: { key: rotated.value.text } } : denied(rotated)
  }
  return { status: 404, body: { error: 'not_found', message: 'no such route' } }
}

/** A broken world is a 503; only a bug is a 500. Neither says what happened inside. */
function failed(error: unknown): HttpResponse {
  if (error instanceof SyntaxError) {
    return { status: 400, body: { error: 'invalid_request', message: 'the body must be JSON' } }
  }
  if (!(error instanceof Fault)) return { status: 500, body: { error: 'internal_error', message: 'failed' } }
  const body = { error: 'service_unavailable', message: 'try again' }
  return { status: 503, body, headers: [['retry-after', String(error.retryAfterSeconds)]] }
}

/** The whole service: node:http in front of the issuer. */
export function createService(issuer: Issuer): Server {
  return createServer((request, response) => {
    reply(issuer, request)
      .catch(failed)
      .then(({ status, body, headers = [] }) => {
        response.setHeader('content-type', 'application/json')
        for (const [name, value] of headers) response.setHeader(name, value)
        response.writeHead(status).end(JSON.stringify(body))
        return undefined
      })
      .catch(() => response.destroy())
  })
}
