import { isDeepStrictEqual } from 'node:util'
import { Router } from '@koa/router'
import t from 'tap'
import { createRouteTable } from '#packages/host/dist/http/route-table.js'

const PATTERNS = [
  '/healthz',
  '/user/v1/cards',
  '/user/v1/cards/recent',
  '/user/v1/cards/:id',
  '/user/v1/cards/:id/close',
  '/user/v1/cards-of-others/:id',
  '/users/:id',
  '/users/:id/caps',
]
const routes = PATTERNS.flatMap(pattern =>
  ['GET', 'POST'].map(method => ({ method, pattern, value: `${method} ${pattern}` })),
).filter(({ value }) => value !== 'POST /healthz')
const table = createRouteTable(routes)

t.test('finds the route that one router with all patterns would find', t => {
  const router = new Router({ strict: true, sensitive: true })
  for (const { method, pattern } of routes) router.register(pattern, [method], () => undefined)
  const segments = [
    '',
    'user',
    'v1',
    'V1',
    'cards',
    'cards-of-others',
    'recent',
    'a%20b',
    '%zz',
    'close',
    'users',
    'caps',
    'healthz',
  ]
  const paths = ['/']
  const different: string[] = []
  for (const a of segments)
    for (const b of segments) for (const c of segments) paths.push(`/${a}`, `/${a}/${b}`, `/${a}/${b}/${c}`)
  for (const d of segments)
    for (const e of segments)
      paths.push(`/user/v1/cards/${d}`, `/user/v1/cards/${d}/${e}`, `/user/v1/cards-of-others/${d}`)
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const { path: layers, pathAndMethod } = router.match(path, method)
      const [layer] = pathAndMethod
      const expected = layer && { pattern: layer.path, params: layer.params(path, layer.captures(path)) }
      const found = table.find(method, path)
      const methods = [...new Set(layers.flatMap(each => each.methods))].toSorted()
      const same =
        isDeepStrictEqual(found && { pattern: found.pattern, params: found.params }, expected) &&
        isDeepStrictEqual(table.methodsOf(path), methods)
      if (!same) different.push(`${method} ${path}`)
    }
  }
  t.same(different, [])
  t.equal(table.find('POST', '/user/v1/cards/7')?.value, 'POST /user/v1/cards/:id')
  t.end()
})

t.test('decodes path parameters, and leaves what cannot be decoded', t => {
  t.same(table.find('GET', '/user/v1/cards/a%20b')?.params, { id: 'a b' })
  t.same(table.find('GET', '/user/v1/cards/%zz')?.params, { id: '%zz' })
  t.end()
})
