import Router from '@koa/router'
import Koa from 'koa'
import { createServer } from 'node:http'
import { serve } from '../serve.ts'

const kind = process.argv[2]

if (kind === 'http') {
  serve(
    createServer((_, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end('{"ok":true}')
    }),
  )
} else {
  const app = new Koa()
  if (kind === 'router') {
    const router = new Router()
    // 60 routes, as many as a middle-sized API has.
    for (let n = 0; n < 60; n++) {
      router.get(`/r${n}/cards`, ctx => {
        ctx.body = { ok: true }
      })
    }
    app.use(router.routes())
  } else {
    app.use(ctx => {
      ctx.body = { ok: true }
    })
  }
  serve(createServer(app.callback()))
}
