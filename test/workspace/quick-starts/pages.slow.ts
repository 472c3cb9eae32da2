import { join } from 'node:path'
import t from 'tap'
import { compile } from '../../harness/compile.ts'
import { plainNode } from '../../harness/node.ts'
import { freePort } from '../../harness/services.ts'
import { serving } from '../../harness/serving.ts'
import { codeOf, onNode, placed, type Place } from './pages.ts'
import { provider } from './provider.ts'

/** The pages that guard a server by the tokens of somebody else's identity provider, and how what they leave open is served. */
const pages: Readonly<Record<string, (place: Place) => string>> = {
  express: () => '',
  koa: () => '',
  fastify: () => '',
  'node-http': () => '',
  nestjs: () => '',
  nextjs: place => onNode('request => POST(request, { params: Promise.resolve({}) })', place),
  fetch: place => onNode('app.fetch', place),
}

const { url: issuer, sign } = await provider(t)
const placedPages = await Promise.all(
  Object.entries(pages).map(async ([name, rest]) => {
    const place = { issuer, port: await freePort() }
    const file = `docs/quick-start/${name}.md`
    return { name, file, port: place.port, code: placed(codeOf(file), place) + rest(place) }
  }),
)
const modules = placedPages.map(({ name, code }) => [`${name}.ts`, code] as const)
t.equal(await compile('quick-starts', Object.fromEntries(modules)), '')

for (const { name, file, port, code } of placedPages) {
  t.test(`${file} accepts the tokens of a standard identity provider, and holds the cap`, async t => {
    const child = plainNode([join('build/quick-starts', `${name}.js`)], { stdio: ['ignore', 'pipe', 'pipe'] })
    t.teardown(() => child.kill())
    const url = `http://127.0.0.1:${port}/payments`
    await serving(url, child)
    const send = (token: string, key: string, path = ''): Promise<Response> =>
      fetch(url.replace('/payments', `${path}/payments`), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: '{"amountCents":2500}',
      })
    const good = { iss: issuer, aud: 'https://api.example', scope: 'openid payments.write' }
    for (const alg of ['RS256', 'EdDSA'] as const) {
      const response = await send(await sign(alg, good), `quick-start-${alg}`)
      t.equal(response.status, 201, alg)
      t.match(await response.json(), { owner: 'auth0|ann' })
    }
    // Each payment takes 2,500 of the 10,000 cents of a day: two more fit.
    const token = await sign('RS256', good)
    t.equal((await send(token, 'quick-start-3')).status, 201)
    const existing = await send(token, 'quick-start-4', code.includes('/v1/payments') ? '/v1' : '')
    t.equal(existing.status, 201, 'the handler that was there before')
    const above = await send(token, 'quick-start-5')
    t.equal(above.status, 403)
    t.match(await above.json(), { error: 'policy_blocked' })
    const narrow = await send(await sign('RS256', { ...good, scope: 'openid' }), 'quick-start-scope')
    t.match(await narrow.json(), { error: 'insufficient_scope' })
    const elsewhere = await sign('RS256', { ...good, aud: 'https://other.example' })
    t.equal((await send(elsewhere, 'quick-start-audience')).status, 401)
  })
}
