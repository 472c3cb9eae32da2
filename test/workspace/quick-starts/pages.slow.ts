import { execFile, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
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

/** The commands of a page below "Try it", for a server and an issuer on other ports. The first runs the issuer. */
function tried(file: string, port: number, issuer: string): readonly string[] {
  const [, section = ''] = /^## Try it\n([^]*?)^## /m.exec(readFileSync(file, 'utf8')) ?? []
  t.ok(section.includes('`http://127.0.0.1:4400`'), `${file} names the issuer`)
  return [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code = '']) =>
    code
      .replaceAll('http://localhost:3000', `http://127.0.0.1:${port}`)
      .replaceAll('http://127.0.0.1:4400', issuer),
  )
}

t.test(
  'each page shows its first 201 with the issuer for development, by the commands that it prints',
  async t => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const started = (args: readonly string[]): ChildProcess => {
      const child = plainNode([...args], { stdio: ['ignore', 'pipe', 'pipe'] })
      t.teardown(() => child.kill())
      return child
    }
    const issuer = started(['packages/gatewright/dev-issuer.js', '--port', String(port)])
    await serving(`${url}/keys`, issuer)
    const places = await Promise.all(
      placedPages.map(async ({ name, file }) => {
        const place = { issuer: url, port: await freePort() }
        return { name, file, ...place, code: placed(codeOf(file), place) + pages[name]?.(place) }
      }),
    )
    const modules = places.map(({ name, code }) => [`${name}.ts`, code] as const)
    t.equal(await compile('quick-starts-tried', Object.fromEntries(modules)), '')
    for (const { name, file, port } of places) {
      const child = started([join('build/quick-starts-tried', `${name}.js`)])
      await serving(`http://127.0.0.1:${port}/payments`, child)
      const [run, pay = '', ...more] = tried(file, port, url)
      t.same([run, more], ['npx gatewright-dev-issuer\n', []], file)
      const { stdout } = await promisify(execFile)('sh', ['-euc', pay])
      t.match(stdout, /^HTTP\/1\.1 201 Created[^]*"owner":"ann"/, file)
      child.kill()
    }
  },
)
