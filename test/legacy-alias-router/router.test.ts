import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAliases, type AliasTable } from '@gatewright/legacy-alias-router'
import { Router } from '@koa/router'
import fc from 'fast-check'
import Koa from 'koa'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { holds } from '../harness/holds.ts'
import { editedPath } from './edited-paths.ts'
import { sendTarget } from './raw.ts'

const table: AliasTable = {
  prefixes: [
    { from: '/consumer/v1', to: '/user/v1', mode: 'serve' },
    { from: '/identity/consumer-api-keys', to: '/identity/user-api-keys', mode: 'serve' },
  ],
  paths: [{ from: '/signup', to: '/user/v1/bootstrap', mode: 'serve' }],
}
const aliases = createAliases(table)
const ROUTES = [
  '/user/v1',
  '/user/v1/bootstrap',
  '/user/v1/keys',
  '/user/v1/keys/:keyId',
  '/user/v1/keys/:keyId/rotate',
  '/identity/user-api-keys',
  '/identity/user-api-keys/:keyId',
  '/consumers',
]

/** As in the README: only the router gets the translated path. */
const app = new Koa()
app.use(async (ctx, next) => {
  const path = (ctx.req.url as string).split('?')[0] as string
  const resolved = aliases.resolve({ path, header: () => undefined })
  if (!resolved.ok) throw new Error(resolved.code)
  ctx['newRouterPath'] = resolved.value.path
  await next()
  ctx.body ??= { target: resolved.value.path, route: null, params: {} }
})
const router = new Router({ strict: true, sensitive: true })
for (const route of ROUTES) {
  router.get(route, ctx => {
    ctx.body = { target: (ctx as { newRouterPath?: string }).newRouterPath, route, params: ctx.params }
  })
}
app.use(router.routes() as unknown as Koa.Middleware)
const server = createServer(app.callback())
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

interface RoutedRequest {
  readonly target: string
  readonly route: string | null
  readonly params: Readonly<Record<string, string>>
}
async function route(target: string): Promise<RoutedRequest | 'rejected by the server'> {
  const { status, body } = await sendTarget(port, 'GET', target)
  if (status === 400) return 'rejected by the server'
  return JSON.parse(Buffer.from(body, 'latin1').toString()) as RoutedRequest
}

/** The route of a path, computed without a router, segment by segment. */
function expected(target: string): Pick<RoutedRequest, 'route' | 'params'> {
  const segments = target.split('/')
  for (const route of ROUTES) {
    const names = route.split('/')
    if (names.length !== segments.length) continue
    const params: Record<string, string> = {}
    const fits = names.every((name, index) => {
      const segment = segments[index] as string
      if (!name.startsWith(':')) return name === segment
      params[name.slice(1)] = decoded(segment)
      return segment !== ''
    })
    if (fits) return { route, params }
  }
  return { route: null, params: {} }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const path = editedPath(
  [
    '/consumer/v1/keys/key_1',
    '/consumer/v1/keys/key_1/rotate',
    '/consumer/v1/bootstrap',
    '/consumer/v1',
    '/signup',
    '/identity/consumer-api-keys/key_1',
    '/user/v1/keys/key_1',
    '/user/v1/bootstrap',
  ],
  3,
)

t.test('the router matches the translated path segment by segment, for any bytes', async t => {
  let translated = 0
  let routed = 0
  await holds(
    t,
    fc.asyncProperty(path, async target => {
      const response = await route(target)
      if (response === 'rejected by the server') return
      const path = target.split('?')[0] as string
      const verdict = aliases.resolve({ path, header: () => undefined })
      assert.ok(verdict.ok)
      assert.equal(response.target, Buffer.from(verdict.value.path, 'latin1').toString('latin1'))
      assert.deepEqual({ route: response.route, params: response.params }, expected(verdict.value.path))
      if (response.route !== null) routed++
      if (verdict.value.used.length === 0) return
      translated++
      const direct = await route(verdict.value.path)
      assert.deepEqual(direct, response, 'the current path reaches the same, and no more')
    }),
    { numRuns: randomCases(2000) },
  )
  t.ok(translated > 0 && routed > 0, `${translated} translated and ${routed} routed`)
})

t.test('leaves everything unchanged that Koa derives from the URL', async t => {
  const app = new Koa()
  app.use(ctx => {
    ctx['newRouterPath'] = '/user/v1'
    ctx.body = [ctx.path, ctx.url, ctx.originalUrl, ctx.querystring]
  })
  const server = createServer(app.callback())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { body } = await sendTarget((server.address() as AddressInfo).port, 'GET', '/consumer/v1?a=b')
  t.same(JSON.parse(body), ['/consumer/v1', '/consumer/v1?a=b', '/consumer/v1?a=b', 'a=b'])
})
