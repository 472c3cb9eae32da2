import { deepEqual } from 'node:assert/strict'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  request,
  type ClientRequest,
  type IncomingMessage,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import type { Request } from './load.ts'
import { KEEP_ALIVE_MS } from './serve.ts'

/** A response as it was on the wire. */
export interface WireRecord {
  readonly status: number
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** What a bare server sends, and where. */
export interface RecordedResponse {
  readonly method: string
  /** A path pattern of @koa/router; undefined: no route has the path. */
  readonly pattern: string | undefined
  /** Patterns of further routes, which nobody asks for. */
  readonly others: readonly string[]
  readonly response: WireRecord
}

/** Fields that node:http or Koa write by themselves. */
const WRITTEN = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/**
 * The least that Koa and @koa/router can do to respond the same: they find the route, parse a body where one comes, and write
 * recorded fields and bytes.
 */
export function bareKoa({ method, pattern, others, response }: RecordedResponse): Server {
  const fields = response.fields.filter(([name]) => !WRITTEN.includes(name.toLowerCase()))
  const app = new Koa()
  const router = new Router({ strict: true, sensitive: true })
  const send = (ctx: Context): void => {
    ctx.status = response.status
    for (const [name, value] of fields) ctx.set(name, value)
    ctx.body = response.body
  }
  const respond = async (ctx: Context): Promise<void> => {
    if (method !== 'GET') await json(ctx.req)
    send(ctx)
  }
  for (const path of [...others, ...(pattern === undefined ? [] : [pattern])])
    router.register(path, [method], respond as never)
  app.use(router.routes())
  if (pattern === undefined) app.use(send)
  return createServer(app.callback())
}

/** Asks a server of loopback once, on a connection that is to be kept, as those of a load are. */
export async function record(
  port: number,
  { path, method = 'GET', headers, body }: Request,
): Promise<WireRecord> {
  const agent = new Agent({ keepAlive: true })
  try {
    const asked = request({ port, host: '127.0.0.1', agent, path, method, headers })
    asked.end(body)
    const [{ rawHeaders, statusCode: status = 0 }, whole] = await responseTo(asked)
    const names = rawHeaders.filter((_, at) => at % 2 === 0)
    const fields = names.map((name, at) => [name, rawHeaders[2 * at + 1] as string] as const)
    return { status, fields, body: whole }
  } finally {
    agent.destroy()
  }
}

async function responseTo(asked: ClientRequest): Promise<[response: IncomingMessage, body: string]> {
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return [response, await text(response)]
}

/** Throws when a bare server does not respond to a request with what was recorded: each field but the date, and each byte. */
export async function checkBareKoa(recorded: RecordedResponse, asked: Request): Promise<void> {
  const server = bareKoa(recorded)
  server.keepAliveTimeout = KEEP_ALIVE_MS
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const given = await record((server.address() as AddressInfo).port, asked)
    deepEqual(dateless(given), dateless(recorded.response))
  } finally {
    server.close()
  }
}

const dateless = ({ fields, ...rest }: WireRecord): object => ({
  ...rest,
  fields: fields.filter(([name]) => name !== 'Date').toSorted(([a], [b]) => (a < b ? -1 : 1)),
})
