// Sends the same wrong tokens to the README's example of express-oauth2-jwt-bearer and to ours, and holds what both say against the
// table in docs/quick-start/express.md.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gate, type Decision } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { scopeCatalogue } from '@gatewright/kernel'
import { createGuard } from '@gatewright/scope-guard'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import { SignJWT, type JWTPayload } from 'jose'
import t from 'tap'
import { tool } from '../harness/tools.ts'
import { signingKey, type SigningKey } from '../scope-guard/issuer.ts'

interface Peer {
  auth(options: { readonly issuerBaseURL: string; readonly audience: string }): RequestHandler
  requiredScopes(scopes: string): RequestHandler
}

const audience = 'https://api.example'
const listen = async (server: Server): Promise<string> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const [own, other] = [await signingKey('RS256', 'kid-1'), await signingKey('RS256', 'kid-2')]
let issuer = ''
const provider = createServer(({ url = '' }, response) => {
  const metadata = { issuer, jwks_uri: `${issuer}/jwks`, id_token_signing_alg_values_supported: ['RS256'] }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(url === '/jwks' ? { keys: [own.jwk] } : metadata))
})
issuer = await listen(provider)

/** A valid token, with changes. */
async function token(changes: JWTPayload = {}, { privateKey, jwk }: SigningKey = own): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const usual = {
    iss: issuer,
    aud: audience,
    sub: 'ann',
    client_id: 'shop',
    jti: 'token-1',
    iat: now,
    exp: now + 300,
  }
  return new SignJWT({ ...usual, scope: 'cards.read', ...changes })
    .setProtectedHeader({ alg: 'RS256', kid: jwk.kid as string, typ: 'at+jwt' })
    .sign(privateKey)
}
const withHeader = (text: string, header: object): string =>
  [Buffer.from(JSON.stringify(header)).toString('base64url'), ...text.split('.').slice(1)].join('.')
const past = Math.floor(Date.now() / 1000) - 3600

const WRONG: Readonly<Record<string, () => Promise<string | undefined>>> = {
  'no token': async () => undefined,
  expired: () => token({ iat: past - 300, exp: past }),
  'for another API': () => token({ aud: 'https://other.example' }),
  'of another issuer': () => token({ iss: 'https://other.example' }),
  'changed after it was signed': async () => {
    const [head, , signature] = (await token()).split('.')
    const [, payload] = (await token({ scope: 'cards.read cards.write' })).split('.')
    return [head, payload, signature].join('.')
  },
  'signed by an unknown key': () => token({}, other),
  'without a signature (`alg: none`)': async () =>
    `${withHeader(await token(), { alg: 'none', typ: 'at+jwt' })
      .split('.')
      .slice(0, 2)
      .join('.')}.`,
  'without the scope': () => token({ scope: 'cards.write' }),
}

interface TokenResponse {
  readonly status: number
  readonly words: string
}

async function ask(url: string, text: string | undefined): Promise<Response> {
  return fetch(`${url}/cards`, { headers: text === undefined ? {} : { authorization: `Bearer ${text}` } })
}

/** The example of the other README, with the scope of its next section. */
async function peerServer(): Promise<string> {
  const { auth, requiredScopes } = await tool<Peer>('express-oauth2-jwt-bearer')
  const app = express()
  app.get(
    '/cards',
    auth({ issuerBaseURL: issuer, audience }),
    requiredScopes('cards.read'),
    (_, response) => {
      response.json({ cards: [] })
    },
  )
  // Express itself would print the stack of the error on stderr.
  const silent: ErrorRequestHandler = (
    error: { status: number; headers: object },
    _request,
    response,
    _next,
  ) => {
    response.set(error.headers).sendStatus(error.status)
  }
  return listen(createServer(app.use(silent)))
}

async function ownServer(decisions: Decision[]): Promise<string> {
  const api = gate({
    scopes: scopeCatalogue(['cards.read', 'cards.write']),
    guard: createGuard({ issuer, audience }),
    observe: decision => decisions.push(decision),
  })
  const cards = api.guarded({ operation: 'cards.list', allOf: ['cards.read'] })
  const app: Express = express()
  app.get(
    '/cards',
    expressGate(api, { body: 'stream' }).handle(cards, () => ({ status: 200, body: { cards: [] } })),
  )
  return listen(createServer(app))
}

t.test('the table of wrong tokens shows the responses of both servers', async t => {
  const decisions: Decision[] = []
  const [peer, mine] = await Promise.all([peerServer(), ownServer(decisions)])
  for (const url of [peer, mine]) t.equal((await ask(url, await token())).status, 200, 'a good token passes')
  const lines: string[] = []
  for (const [name, make] of Object.entries(WRONG)) {
    const text = await make()
    const theirs = await ask(peer, text)
    const given = theirs.headers.get('www-authenticate') ?? ''
    const words =
      /error_description="([^"]*)"/.exec(given.replaceAll("\\'", "'"))?.[1] ?? 'a challenge without a reason'
    const peerResponse: TokenResponse = {
      status: theirs.status,
      words: words.replaceAll(issuer, 'ISSUER').replace(/(Supported: )[A-Z0-9]+(?:, \w+)+$/, '$1...'),
    }
    const ours = await ask(mine, text)
    const { reason, code } = decisions.at(-1) as Decision
    const wanted = name === 'without the scope' ? 403 : 401
    t.equal(ours.status, wanted, name)
    const why = reason ?? code
    t.ok(why, `${name}: the event says why`)
    lines.push(`| ${name} | ${peerResponse.status} ${peerResponse.words} | ${ours.status} ${why} |`)
  }
  const page = readFileSync('docs/quick-start/express.md', 'utf8')
  for (const line of lines) t.ok(page.includes(line), line)
})
