import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gate } from '@gatewright/http'
import { koaGate } from '@gatewright/http/koa'
import Koa from 'koa'
import t, { type Test } from 'tap'

/** Serves one operation at `/things/7` and an error at `/broken`; every other path is not found. */
async function serve(t: Test): Promise<string> {
  const api = gate({
    report: () => {},
    aliases: {
      resolve: ({ path }) => ({
        ok: true,
        value: {
          path: path.replace(/^\/old/, '/things'),
          headers: {},
          responseHeaders: path.startsWith('/old') ? [['Deprecation', '@1']] : [],
        },
      }),
    },
  })
  const koa = koaGate(api, { body: 'stream' })
  const operation = koa.operation(api.open('things.read'), ({ params, facts }) => ({
    status: 200,
    headers: [['X-Received', facts.receivedPath ?? '']],
    body: { id: params['id'] },
  }))
  const app = new Koa()
  app.use(
    koa.serve(({ path }) => {
      if (path === '/broken') throw new Error('no table')
      if (path === '/things/7') return { operation, params: { id: '7' }, pattern: '/things/:id' }
      return { kind: 'denial', denial: { ok: false, code: 'not_found', status: 404, message: 'none' } }
    }),
  )
  const server = createServer(app.callback())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('serves an operation of a table under its current and its old path', async t => {
  const url = await serve(t)
  for (const [path, deprecation] of [
    ['/things/7', null],
    ['/old/7', '@1'],
  ] as const) {
    const response = await fetch(url + path)
    t.equal(response.status, 200)
    t.equal(response.headers.get('deprecation'), deprecation)
    t.equal(response.headers.get('x-received'), path)
    t.same(await response.json(), { id: '7' })
  }
  const head = await fetch(`${url}/things/7`, { method: 'HEAD' })
  t.match([head.status, head.headers.get('content-length'), await head.text()], [200, '10', ''])
})

t.test(
  'renders the outcome of a path without an operation, and an error of the table as a failure',
  async t => {
    const url = await serve(t)
    for (const [path, status, error] of [
      ['/nothing', 404, 'not_found'],
      ['/broken', 500, 'internal_error'],
    ] as const) {
      const response = await fetch(url + path)
      t.equal(response.status, status)
      t.match(await response.json(), { error })
    }
  },
)
