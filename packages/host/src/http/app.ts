import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { Outcome } from '@gatewright/http/internal'
import Koa, { type Context } from 'koa'
import { deny } from './codes.ts'
import { optionsResponse } from './cors.ts'
import type { MountServices } from './host-gate.ts'
import { nearestPathOf } from './nearest-path.ts'
import { mount } from './mount.ts'
import type { Operation } from './operation.ts'
import { createRouteTable, type RouteTable } from './route-table.ts'

/** The response to a request for a page or one of its assets. */
export interface PageResponse {
  readonly status: 200 | 304 | 404 | 405
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | Buffer | undefined
}

/** The pages of a host for browsers. */
export interface Pages {
  /** Responds to a request; undefined where no page has the path. */
  respond(method: string, path: string, headers: IncomingHttpHeaders): PageResponse | undefined
  /** Responds where neither a page nor an operation has the path; undefined for a client that does not prefer HTML. */
  respondNotFound(accept: string | undefined): PageResponse | undefined
}

const NO_PAGES: Pages = { respond: () => undefined, respondNotFound: () => undefined }

/** The application and its shutdown. */
interface App {
  /** Responds to the requests of a server. */
  readonly listener: RequestListener
  /** Makes each further response close its connection. */
  drain(): void
}

/** Creates the application: pages for browsers, operations, and responses for paths and methods without an operation. */
export function createApp(
  table: readonly Operation[],
  services: MountServices,
  pages: Pages = NO_PAGES,
): App {
  const {
    koa: bind,
    operations,
    drain,
  } = mount(table, { ...services, notFoundPage: accept => pages.respondNotFound(accept) })
  const routes = createRouteTable(
    operations.flatMap(([{ method, paths }, value]) =>
      paths.map(path => ({ method, pattern: path.replaceAll(/\{(\w+)\}/g, ':$1'), value })),
    ),
  )
  const nearestPath = nearestPathOf(operations.flatMap(([{ paths }]) => paths))
  const serve = bind.serve(({ method, path }) => {
    const found = routes.find(method, path)
    if (!found) return noSuchRoute(routes, nearestPath, path, method)
    return { operation: found.value, params: found.params, pattern: found.pattern }
  })
  const app = new Koa()
  // Otherwise Koa prints errors that happen after the response, such as a client that disconnects.
  app.silent = true
  let draining = false
  const pageOf = ({ method, path, headers }: Pick<Context, 'method' | 'path' | 'headers'>) =>
    pages.respond(method, path, headers)
  app.use(ctx => {
    const page = pageOf(ctx)
    if (!page) return
    for (const [name, value] of page.headers) ctx.set(name, value)
    if (draining) ctx.set('Connection', 'close')
    // Setting an absent body changes the status to 204, so the status is set last.
    ctx.body = page.body
    ctx.status = page.status
  })
  const sendPage = app.callback()
  return {
    // `serve` writes the whole response itself. What Koa does after a middleware, such as watching for the end of the response, would cost
    // 8 % of a guarded read (npm run bench -- host).
    listener(req, res) {
      const ctx = app.createContext(req, res)
      if (pageOf(ctx)) void sendPage(req, res)
      else serve(ctx, async () => {}).catch((error: Error) => ctx.onerror(error))
    },
    drain() {
      draining = true
      drain()
    },
  }
}

/** Returns the response for a path or method without an operation: 404, or 405 with `Allow`. */
function noSuchRoute(
  routes: RouteTable<unknown>,
  nearestPath: (path: string) => string | undefined,
  path: string,
  method: string,
): Outcome {
  const methods = routes.methodsOf(path)
  if (methods.length === 0) {
    const near = nearestPath(path)
    const meant = near === undefined ? '.' : `; did you mean ${near}?`
    return { kind: 'denial', denial: deny('not_found', `No operation has this path${meant}`) }
  }
  const all = [...methods, 'OPTIONS']
  if (method === 'OPTIONS') return { kind: 'response', response: optionsResponse(all) }
  const names = all.join(', ')
  return {
    kind: 'denial',
    denial: { ...deny('method_not_allowed', `This path allows ${names}.`), headers: [['Allow', names]] },
  }
}
