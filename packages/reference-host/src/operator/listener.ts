import type { Pages, PageResponse } from '@gatewright/host'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { denialResponse, parseJsonObject, wire, type HttpResponse } from '@gatewright/http'
import { codingDenial, failureResponse } from '@gatewright/http/internal'
import { readRawBody } from '@gatewright/http/node'
import { isStorableText, shownName } from '@gatewright/kernel/internal'
import { requestTimeLimit, unknownQueryName } from '@gatewright/host/internal'
import { operatorAccess, type OperatorAccess } from './access.ts'
import { deny, type OperatorDenial } from './codes.ts'
import { operatorEndpoints, type OperatorEndpoint } from './endpoints.ts'
import type { OperatorServices } from './services.ts'

/** The running operator listener. */
export interface OperatorListener {
  /** The address of the page. */
  readonly url: string
  close(): Promise<void>
}

/** The port of the listener, and who may use it. The address is always loopback. */
interface OperatorOptions {
  readonly port: number
  readonly token: string
}

/** Header fields of every response. There are no CORS fields, because no other origin may call the listener. */
const HEADERS = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
] as const

const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 65_536
/** A browser opens up to six. */
const MAX_CONNECTIONS = 32

/** Starts the operator listener on loopback. Rejects if the port is in use. */
export async function startOperatorListener(
  { port, token }: OperatorOptions,
  services: OperatorServices,
): Promise<OperatorListener> {
  let actualPort = port
  const access = operatorAccess(token, () => actualPort)
  const endpoints = operatorEndpoints(services)
  const server = createServer(requestTimeLimit(TIMEOUT_MS), (req, res) => {
    void responseOf(req, access, endpoints, services.pages)
      .catch((error: unknown) => {
        services.report(error)
        return failureResponse(error, 'plain')
      })
      .then(response => send(res, response))
      .catch((error: unknown) => {
        services.report(error)
        res.destroy()
      })
  })
  server.maxConnections = MAX_CONNECTIONS
  await listen(server, port)
  actualPort = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${actualPort}/operator`,
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
      await services.ledgerChecks.stop()
    },
  }
}

async function responseOf(
  req: IncomingMessage,
  access: OperatorAccess,
  endpoints: readonly OperatorEndpoint[],
  pages: Pages,
): Promise<HttpResponse | PageResponse> {
  const method = req.method ?? ''
  const header = (name: string): string | undefined => {
    const value = req.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  const request = { method, header }
  const misplaced = access.wrongPlace(request)
  if (misplaced) return denialResponse(misplaced, 'plain')
  const [path = '', query = ''] = (req.url ?? '').split('?')
  const page = pages.respond(method, path, req.headers)
  if (page) return page
  const unproven = access.wrongToken(request)
  if (unproven) return denialResponse(unproven, 'plain')
  const served = endpoints.filter(endpoint => endpoint.path === path)
  const endpoint = served.find(each => each.method === method)
  if (served.length === 0)
    return denialResponse(deny('not_found', 'the operator page has no such path'), 'plain')
  if (!endpoint) {
    const names = served.map(each => each.method).join(', ')
    const denial = deny('method_not_allowed', `this path allows ${names}`)
    return denialResponse({ ...denial, headers: [['Allow', names]] }, 'plain')
  }
  const coded = codingDenial(request)
  if (coded) return denialResponse(coded, 'plain')
  const raw = await readRawBody(req, MAX_BODY_BYTES)
  const body = raw.ok ? parseJsonObject(raw.value, req.headers['content-type']) : raw
  if (!body.ok) return denialResponse(body, 'plain')
  const parameters = new URLSearchParams(query)
  const wrong = parameterDenial(endpoint, parameters)
  if (wrong) return denialResponse(wrong, 'plain')
  const verdict = await endpoint.response(body.value, parameters)
  return verdict.ok ? { status: 200, headers: [], body: verdict.value } : denialResponse(verdict, 'plain')
}

function parameterDenial(
  { parameters: known = [] }: OperatorEndpoint,
  given: URLSearchParams,
): OperatorDenial | undefined {
  for (const [name, value] of given) {
    const field = shownName(name)
    if (!known.includes(name))
      return deny('invalid_request', `${field} ${unknownQueryName(name, known)}`, { field })
    // No stored text has a NUL, and Postgres fails at one.
    if (!isStorableText(value)) return deny('invalid_request', `${field} must not contain NUL`, { field })
  }
  return undefined
}

function send(res: ServerResponse, response: HttpResponse | PageResponse): void {
  const { status, headers, body } =
    response.body instanceof Buffer ? { ...response, body: response.body } : wire(response)
  // Fields of a page replace these.
  for (const [name, value] of [...HEADERS, ...headers, ['X-Request-Id', randomUUID()] as const])
    res.setHeader(name, value)
  res.writeHead(status)
  res.end(body)
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
}
