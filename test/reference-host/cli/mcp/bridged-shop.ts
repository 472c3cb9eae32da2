import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { CommandError } from '#packages/host/dist/cli/command.js'
import { runBridge } from '#packages/reference-host/dist/cli/mcp/bridge.js'
import { Sessions } from '#packages/reference-host/dist/cli/mcp/sessions.js'
import type { Test } from 'tap'
import { createWorld, listening, type World } from '../../../gatewright/world.ts'
import { createShop } from '../../../gatewright/mcp/shop.ts'

/** Handles a request instead of the server; false if the server handles it. */
type Instead = (request: IncomingMessage, response: ServerResponse) => boolean

/** A server of guarded tools that exchanges keys for sessions, as a host does. */
export interface BridgedShop {
  readonly world: World
  readonly url: string
  /** What came to `/mcp`. */
  readonly received: { readonly headers: IncomingMessage['headers']; readonly body: string }[]
  /** How often a key was exchanged. */
  exchanges: number
  /** The scopes of the next session. Empty: the key is denied. */
  scopes: string
  instead: Instead
  /** Stops the server; `start` starts it again on the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Starts the server on loopback. */
export async function startShop(t: Test, { before }: { before?: () => unknown } = {}): Promise<BridgedShop> {
  const world = createWorld()
  const { serve } = createShop({ world, ...(before ? { before } : {}) })
  const exchange = async (): Promise<Response> => {
    shop.exchanges += 1
    if (shop.scopes === '')
      return Response.json(
        { success: false, error: 'unauthorized', message: 'The key is revoked' },
        { status: 401 },
      )
    const sessionToken = await world.token(shop.scopes)
    const expiresAt = new Date(Date.now() + 900_000).toISOString()
    return Response.json({ success: true, data: { sessionToken, expiresAt, scopes: shop.scopes.split(' ') } })
  }
  const listener = getRequestListener(async request => {
    if (new URL(request.url).pathname === '/user/v1/sessions') return exchange()
    const body = await request.clone().text()
    shop.received.push({ headers: Object.fromEntries(request.headers), body })
    return serve(request)
  })
  const server = createServer((request, response) => {
    if (!shop.instead(request, response)) void listener(request, response)
  })
  const { url } = await listening(server.listen(0, '127.0.0.1'))
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  t.teardown(stop)
  const shop: BridgedShop = {
    world,
    url,
    received: [],
    exchanges: 0,
    scopes: 'payments.read payments.write',
    instead: () => false,
    stop,
    async start() {
      await listening(server.listen(Number(new URL(url).port), '127.0.0.1'))
    },
  }
  return shop
}

/** A JSON-RPC message that the bridge wrote. */
interface Written {
  readonly id?: unknown
  readonly method?: string
  readonly result?: Readonly<Record<string, unknown>> & {
    readonly isError?: boolean
    readonly content?: readonly { readonly text: string }[]
  }
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
}

/** A bridge under test, as its client sees it. */
export interface OpenBridge {
  /** Writes bytes, or a message as a line. */
  write(message: object | string): void
  /** Resolves to the next message of an id, `null` for that of a line without one. */
  answer(id: unknown): Promise<Written>
  /** Resolves when the bridge has reported something that matches. */
  reported(pattern: RegExp): Promise<void>
  readonly reports: string[]
  /** All lines so far. */
  readonly lines: string[]
  /** Closes its input, and resolves when it has ended. */
  close(): Promise<void>
}

/** Runs a bridge to a server, in this process. */
export function openBridge(t: Test, host: string, key = 'gw_key'): OpenBridge {
  const input = new PassThrough()
  const lines: string[] = []
  const reports: string[] = []
  let changed: () => void = () => {}
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await new Promise<void>(resolve => {
        const before = changed
        changed = () => {
          before()
          resolve()
        }
      })
    }
  }
  const ended = runBridge(input, {
    sessions: new Sessions(async () => {
      if (key === '') throw new CommandError('You are not logged in', 'not_logged_in')
      return { host, key }
    }),
    async write(line) {
      lines.push(line)
      changed()
    },
    report(text) {
      reports.push(text)
      changed()
    },
    grant: (scopes, session) => `ask ${session.host} for ${scopes.join(' ')}`,
  })
  t.teardown(async () => {
    input.end()
    await ended
  })
  const taken = new Set<number>()
  return {
    lines,
    reports,
    write: message =>
      void input.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
    answer: id =>
      until(() => {
        const at = lines.findIndex((line, n) => !taken.has(n) && (JSON.parse(line) as Written).id === id)
        if (at === -1) return undefined
        taken.add(at)
        return JSON.parse(lines[at] as string) as Written
      }),
    async reported(pattern) {
      await until(() => (reports.some(each => pattern.test(each)) ? true : undefined))
    },
    async close() {
      input.end()
      await ended
    },
  }
}

const PROTOCOL = 'io.modelcontextprotocol'

/** Makes a request of revision 2026-07-28. */
export const modern = (id: unknown, method: string, params: object = {}, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: {
      [`${PROTOCOL}/protocolVersion`]: '2026-07-28',
      [`${PROTOCOL}/clientInfo`]: { name: 'agent', version: '1' },
      [`${PROTOCOL}/clientCapabilities`]: {},
      ...meta,
    },
  },
})

/** Makes a call of a tool, of revision 2026-07-28. */
export const call = (id: unknown, name: string, args: object, meta?: object): object =>
  modern(id, 'tools/call', { name, arguments: args }, meta)

/** Makes a request of revision 2025-11-25. */
export const legacy = (id: unknown, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
