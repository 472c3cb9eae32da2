// An issuer that publishes metadata and keys over HTTP, for the tests of discovery.
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWK } from 'jose'
import type { Test } from 'tap'
import { signingKey } from '../issuer.ts'

export const OPENID = '/.well-known/openid-configuration'
export const OAUTH = '/.well-known/oauth-authorization-server'
export const ec = await signingKey('ES256', 'ec')
const json = (response: ServerResponse, value: unknown): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

/** An issuer on loopback, by default with OpenID metadata at its root. `routes` replace the response of a path. */
export async function issuer(t: Test, path = '') {
  const requested: string[] = []
  const keys: JWK[] = [ec.jwk]
  const routes: Record<string, RequestListener> = {}
  const server = createServer((request, response) => {
    requested.push(request.url ?? '')
    const route = routes[request.url ?? '']
    if (route) return route(request, response)
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = origin + path
  const metadata: Record<string, unknown> = { issuer: url, jwks_uri: `${origin}/keys` }
  const serveMetadata: RequestListener = (_, response) => json(response, metadata)
  routes['/keys'] = (_, response) => json(response, { keys })
  return { url, origin, requested, keys, routes, metadata, serveMetadata }
}
