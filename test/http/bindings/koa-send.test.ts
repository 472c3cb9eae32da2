import { createServer } from 'node:http'
import type { HttpResponse } from '@gatewright/http'
import { send } from '@gatewright/http/koa'
import Koa from 'koa'
import t from 'tap'
import { listen } from '../../harness/listen.ts'

let output: HttpResponse
const app = new Koa()
app.use(async ctx => {
  if (ctx.path === '/itself') ctx.respond = false
  send(ctx, output)
})
const url = await listen(t, createServer(app.callback()))

async function sent(given: HttpResponse, path = '/', method = 'GET') {
  output = given
  const response = await fetch(url + path, {
    method,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

t.test('sends a value as JSON, with every field of a repeated name', async t => {
  const headers = [
    ['X-One', '1'],
    ['Link', '<a>; rel="a"'],
    ['Link', '<b>; rel="b"'],
  ] as const
  const { status, headers: fields, text } = await sent({ status: 201, headers, body: { a: 1 } })
  t.same([status, text], [201, '{"a":1}'])
  t.match(fields.get('content-type'), /^application\/json/)
  t.equal(fields.get('x-one'), '1')
  t.equal(fields.get('link'), '<a>; rel="a", <b>; rel="b"')
})

t.test('sends a text as it is, and keeps the status of a response without a body', async t => {
  const html = await sent({ status: 404, headers: [['Content-Type', 'text/html']], body: '<p>' })
  t.same([html.status, html.text, html.headers.get('content-type')], [404, '<p>', 'text/html'])
  const none = await sent({ status: 200, headers: [], body: undefined })
  t.same([none.status, none.text], [200, ''])
})

t.test('writes the same response itself where Koa must not respond', async t => {
  const link = ['Link', '<a>; rel="a"'] as const
  const outputs: HttpResponse[] = [
    { status: 201, headers: [['X-One', '1'], link, link], body: { a: 'ü' } },
    { status: 404, headers: [['Content-Type', 'text/html']], body: '<p>' },
    { status: 200, headers: [], body: undefined },
    { status: 204, headers: [['X-One', '1']], body: undefined },
  ]
  for (const method of ['GET', 'HEAD'])
    for (const given of outputs) {
      // Koa gives an empty response to HEAD no length.
      if (method === 'HEAD' && given.body === undefined) continue
      const [byKoa, itself] = [await sent(given, '/', method), await sent(given, '/itself', method)]
      t.same(shown(itself), shown(byKoa), `${method} ${given.status}`)
    }
})

const shown = ({ headers, ...response }: Awaited<ReturnType<typeof sent>>) => ({
  ...response,
  headers: [...headers].filter(([name]) => name !== 'date'),
})
