import type { IncomingHttpHeaders } from 'node:http'
import type { Outcome } from '@gatewright/http'
import { Router } from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { deny } from './codes.ts'
import { optionsResponse } from './cors.ts'
import type { MountServices } from './host-gate.ts'
import { mount } from './mount.ts'
import type { Operation } from './operation.ts'

/** The response to a request for a page or one of its assets. */
export interface PageResponse {
  readonly status: 200 | 304 | 405
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | Buffer | undefined
}

/** Responds to a request; undefined where no page has the path. */
export type Pages = (method: string, path: string, headers: IncomingHttpHeaders) => PageResponse | undefined

/** The Koa application and its shutdown. */
interface App {
  readonly koa: Koa
  /** Makes each further response close its connection. */
  drain(): void
}

/**
 * Creates the Koa application: pages for browsers, legacy names, routes, and responses for paths and methods without an operation.
 */
export function createApp(
  table: readonly Operation[],
  services: MountServices,
  pages: Pages = () => undefined,
): App {
  const { koa: bind, operations, drain } = mount(table, services)
  const router = new Router({ strict: true, sensitive: true })
  for (const [{ method, paths }, middleware] of operations) {
    for (const path of paths) router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], middleware)
  }
  const app = new Koa()
  // Otherwise Koa prints errors that happen after the response, such as a client that disconnects.
  app.silent = true
  let draining = false
  app.use((ctx, next) => {
    const page = pages(ctx.method, ctx.path, ctx.headers)
    if (!page) return next()
    for (const [name, value] of page.headers) ctx.set(name, value)
    if (draining) ctx.set('Connection', 'close')
    // Setting an absent body changes the status to 204, so the status is set last.
    ctx.body = page.body
    ctx.status = page.status
    return undefined
  })
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      await bind.otherwise(ctx, () => ({ kind: 'failure', error }))
    }
  })
  app.use(bind.aliases)
  app.use(router.routes() as unknown as Middleware)
  app.use(ctx => bind.otherwise(ctx, ({ path, method }) => noSuchRoute(router, path, method)))
  return {
    koa: app,
    drain() {
      draining = true
      drain()
    },
  }
}

/** Returns the response for a path or method without an operation: 404, or 405 with `Allow`. */
function noSuchRoute(router: Router, path: string, method: string): Outcome {
  const { path: layers } = router.match(path, method)
  const methods = [...new Set(layers.flatMap(layer => layer.methods))].sort()
  if (methods.length === 0) return { kind: 'denial', denial: deny('not_found', 'no operation has this path') }
  const all = [...methods, 'OPTIONS']
  if (method === 'OPTIONS') return { kind: 'response', response: optionsResponse(all) }
  const names = all.join(', ')
  return {
    kind: 'denial',
    denial: { ...deny('method_not_allowed', `this path allows ${names}`), headers: [['Allow', names]] },
  }
}
