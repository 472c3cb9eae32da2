import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { Outcome } from '@gatewright/http/internal'
import { requestFacts, send } from '@gatewright/http/koa'
import Koa, { type Context, type Middleware } from 'koa'
import { deny } from './codes.ts'
import { optionsResponse } from './cors.ts'
import { TOOL_MESSAGE } from '../records/request-log.ts'
import type { MountServices } from './mount/host-gate.ts'
import { nearestPathOf } from './nearest-path.ts'
import { mountedTools } from './mcp/host-tool.ts'
import { serveTools } from './mcp/serve-tools.ts'
import { mount } from './mount/mount.ts'
import type { Operation } from './operations/operation.ts'
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

/** What an application serves beside its operations. */
export interface AppOptions {
  /** Documents for browsers, which are served before the operations. Default: none. */
  readonly pages?: Pages
  /** Koa middleware of the team. It runs for every request, before pages and operations, in this order. Default: none. */
  readonly middleware?: readonly Middleware[]
  /** Receives errors of that middleware after an operation has responded: the decision event does not have them. Default: none is reported. */
  readonly report?: (error: unknown) => void
}

/** The application and its shutdown. */
interface App {
  /** Responds to the requests of a server. */
  readonly listener: RequestListener
  /** Makes each further response close its connection. */
  drain(): void
}

/**
 * Creates the application: a team's middleware, pages for browsers, operations, and responses for paths and methods without an
 * operation. What the team's middleware throws before an operation responds is rendered and reported as if the operation had thrown it;
 * afterwards it is a failure.
 */
export function createApp(
  table: readonly Operation[],
  services: MountServices,
  { pages = NO_PAGES, middleware = [], report = () => {} }: AppOptions = {},
): App {
  const notFoundPage = pages.respondNotFound.bind(pages)
  const { koa, gate, operations } = mount(table, { ...services, notFoundPage })
  const routes = createRouteTable(
    operations.flatMap(({ operation: { method, paths }, middleware: value }) =>
      paths.map(path => ({ method, pattern: path.replaceAll(/\{(\w+)\}/g, ':$1'), value })),
    ),
  )
  const nearestPath = nearestPathOf(operations.flatMap(({ operation: { paths } }) => paths))
  const { mcp, limits, operationTitles } = services
  if (mcp) operationTitles.set(TOOL_MESSAGE, 'Message of a client of tools')
  const tools = mcp && serveTools(mountedTools(operations), { gate, limits, options: mcp })
  const app = new Koa()
  // Otherwise Koa prints errors that happen after the response, such as a client that disconnects.
  app.silent = true
  let draining = false
  const enter = (ctx: Context): ReturnType<typeof gate.enter> =>
    gate.enter(ctx.req, () => requestFacts(ctx, gate.settings.trusted))
  const withErrors =
    (run: Middleware): Middleware =>
    async (ctx, next) => {
      try {
        await run(ctx, next)
      } catch (error) {
        const entered = enter(ctx)
        if (!entered.ok || entered.value.decision.emitted) report(error)
        await koa.otherwise(ctx, () => ({ kind: 'failure', error }))
      }
    }
  const serve: Middleware = (ctx, next) => {
    const page = pages.respond(ctx.req.method ?? '', ctx.path, ctx.req.headers)
    if (page) return sendPage(ctx, page, draining)
    // Without middleware of a team nothing reads the response of Koa, and the gate writes its own in one call.
    if (middleware.length === 0) ctx.respond = false
    const serveTool = tools?.get(ctx.path)
    if (serveTool) return serveTool(ctx)
    const entered = enter(ctx)
    if (!entered.ok) return send(ctx, entered.response)
    const { path, method } = entered.value.facts
    const found = routes.find(method, path)
    if (!found) return koa.otherwise(ctx, () => noSuchRoute(routes, nearestPath, path, method))
    Object.assign(ctx, { params: found.params, _matchedRoute: found.pattern })
    return found.value(ctx, next)
  }
  if (middleware.length > 0) app.use(withErrors((_ctx, next) => next()))
  for (const each of middleware) app.use(each)
  app.use(withErrors(serve))
  const respond = app.callback()
  return {
    listener: (req, res) => void respond(req, res),
    drain() {
      draining = true
      gate.drain()
    },
  }
}

function sendPage(ctx: Context, { headers, body, status }: PageResponse, draining: boolean): void {
  for (const [name, value] of headers) ctx.set(name, value)
  if (draining) ctx.set('Connection', 'close')
  // Setting an absent body changes the status to 204, so the status is set last.
  ctx.body = body
  ctx.status = status
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
