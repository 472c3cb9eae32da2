// Three servers without anything of ours, for the tests of the harness.
import Koa from 'koa'
import { createServer } from 'node:http'
import { serve } from '../serve.ts'

const kind = process.argv[2]
if (kind === 'http')
  serve(
    createServer((_, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end('{"ok":true}')
    }),
  )
else {
  const app = new Koa()
  if (kind === 'koa')
    app.use(ctx => {
      ctx.body = { ok: true }
    })
  serve(createServer(app.callback()))
}
