import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import t, { type Test } from 'tap'
import { compile } from '../harness/compile.ts'
import { plainNode } from '../harness/node.ts'
import { freePort } from '../harness/services.ts'
import { fences } from './markdown.ts'

/** A page whose code guards a server by the tokens of somebody else's identity provider. */
interface Page {
  readonly file: string
  readonly issuer: string
  readonly audience: string
  /** What the page leaves to the reader: how its application is served. */
  readonly served?: (port: number) => string
}

const auth = { issuer: 'https://auth.example', audience: 'https://api.example' }
const pages: readonly Page[] = [
  { ...auth, file: 'docs/quick-start/express.md' },
  { ...auth, file: 'docs/quick-start/koa.md' },
  { ...auth, file: 'docs/quick-start/fastify.md' },
  { ...auth, file: 'docs/quick-start/node-http.md' },
  {
    ...{ ...auth, file: 'docs/quick-start/fetch.md' },
    served: port => `import { serve } from '@hono/node-server'
serve({ fetch: gw.aliases(app.fetch), port: ${port}, hostname: '127.0.0.1' }, () => console.log('listens'))`,
  },
]

/** Metadata and key set of a standard identity provider, and tokens in the form of RFC 9068. */
async function provider(t: Test) {
  const pairs = await Promise.all(
    ['RS256', 'EdDSA'].map(async alg => ({ alg, ...(await generateKeyPair(alg)) })),
  )
  const keys = await Promise.all(
    pairs.map(async ({ alg, publicKey }) => ({ ...(await exportJWK(publicKey)), kid: alg, alg, use: 'sig' })),
  )
  const server = createServer((request, response) => {
    const isMetadata = request.url === '/.well-known/openid-configuration'
    response.end(JSON.stringify(isMetadata ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const sign = (alg: string, claims: JWTPayload): Promise<string> => {
    const { privateKey } = pairs.find(pair => pair.alg === alg) as (typeof pairs)[number]
    const token = new SignJWT({ sub: 'auth0|ann', client_id: 'shop', jti: 'token-1', ...claims })
    return token
      .setIssuedAt()
      .setExpirationTime('15m')
      .setProtectedHeader({ alg, typ: 'at+jwt', kid: alg })
      .sign(privateKey)
  }
  return { url, sign }
}

/** The page's first fence that makes a guard, with the issuer's address and the port exchanged, and nothing else. */
function runnable({ file, issuer, served }: Page, url: string, port: number): string {
  const fence = fences(readFileSync(file, 'utf8')).find(({ code }) => code.includes('createGuard('))
  if (!fence?.code.includes(issuer)) throw new Error(`${file} has no fence with the issuer ${issuer}`)
  const listens = `console.log('listens')`
  return `${fence.code
    .replace(issuer, url)
    .replace('listen(3000)', `listen(${port}, '127.0.0.1', () => ${listens})`)
    .replace(
      '{ port: 3000 })',
      `{ port: ${port}, host: '127.0.0.1' })\n${listens}`,
    )}\n${served?.(port) ?? ''}\n`
}

async function start(t: Test, script: string): Promise<void> {
  const child = plainNode([script], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill())
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      if (output.includes('listens')) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('close', code => reject(new Error(`${script} ended with ${code}: ${output}`)))
  })
}

const { url, sign } = await provider(t)
const placed = await Promise.all(pages.map(async page => ({ ...page, port: await freePort() })))
const modules = placed.map((page, index) => [`page_${index}.ts`, runnable(page, url, page.port)] as const)
t.equal(await compile('quick-starts', Object.fromEntries(modules)), '')

for (const [index, { file, audience, port }] of placed.entries()) {
  t.test(`${file} accepts the tokens of a standard identity provider`, async t => {
    await start(t, join('build/quick-starts', `page_${index}.js`))
    const send = (token: string, key: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/orders`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: '{}',
      })
    const good = { iss: url, aud: audience, scope: 'openid cards.write orders.write' }
    for (const alg of ['RS256', 'EdDSA']) {
      const answer = await send(await sign(alg, good), `quick-start-${alg}`)
      t.equal(answer.status, 201, alg)
      t.match(await answer.json(), { owner: 'auth0|ann' })
    }
    t.equal((await send(await sign('RS256', { ...good, scope: 'openid' }), 'quick-start-scope')).status, 403)
    const elsewhere = await sign('RS256', { ...good, aud: 'https://other.example' })
    t.equal((await send(elsewhere, 'quick-start-audience')).status, 401)
  })
}
