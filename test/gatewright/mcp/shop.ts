import { McpServer } from '@modelcontextprotocol/server'
import { gatewright, type FetchOptions } from 'gatewright/fetch'
import { mcp, type Mcp } from 'gatewright/mcp'
import { z } from 'zod'
import { createWorld, type World } from '../world.ts'

/** A server of tools under test. */
export interface Shop {
  readonly world: World
  readonly tools: Mcp
  readonly guard: ReturnType<typeof gatewright>['guard']
  /** Makes a server with the tools of the shop. */
  makeServer(): McpServer
  /** The handler of its path. */
  serve(request: Request): Promise<Response>
  /** The handler of its metadata. */
  metadata(request: Request): Promise<Response>
}

/** The arguments of a payment. */
export const payment = z.strictObject({
  orderId: z.string().max(64).optional(),
  amountCents: z.number().int().positive(),
  note: z.string().optional(),
})

interface ShopOptions {
  readonly world?: World
  readonly gate?: FetchOptions['gate']
  /** Runs in the handler of a payment, before the effect. */
  readonly before?: () => unknown
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** Makes a shop: a tool that pays, one that reads, one that refunds with a key of the client only, and one with a schema of its result. */
export function createShop({ world = createWorld(), gate, before, waitUntil }: ShopOptions = {}): Shop {
  const gw = gatewright({ ...world.options, peer: 'none', ...(gate ? { gate } : {}) })
  const tools = mcp(gw, { peer: 'none', ...(waitUntil ? { waitUntil } : {}) })
  const pay = async (amountCents: number, effectId: string) => {
    await before?.()
    const paid = await world.processor.pay(amountCents, effectId)
    return paid === 'paid'
      ? { content: [{ type: 'text' as const, text: `paid ${effectId}` }] }
      : ({ ok: false, code: 'declined', status: 402, message: 'The processor declined' } as const)
  }
  const makeServer = (): McpServer => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    const spends = ({ amountCents }: { amountCents: number }) => ({ amountCents, currency: 'USD' })
    tools.guardTool(
      server,
      'payments.create',
      { scope: 'payments.write', spends, intent: { args: ['orderId'], meta: 'idempotency-key' } },
      { description: 'Pays an order.', inputSchema: payment },
      ({ args, effectId }) => pay(args.amountCents, effectId),
    )
    tools.guardTool(
      server,
      'payments.read',
      { scope: 'payments.read', read: true },
      { description: 'Lists payments.', inputSchema: z.strictObject({}) },
      ({ session }) => ({
        structuredContent: { owner: session.accountId, paid: world.processor.calls.length },
      }),
    )
    tools.guardTool(
      server,
      'tips.create',
      { scope: ['payments.read', 'payments.write'], spends, intent: { meta: 'idempotency-key' } },
      {
        description: 'Pays a tip.',
        inputSchema: z.strictObject({ amountCents: z.number().int().positive() }),
        outputSchema: z.object({ id: z.string() }),
      },
      async ({ args, effectId }) => {
        await world.processor.pay(args.amountCents, effectId)
        return { structuredContent: { id: effectId } }
      },
    )
    return server
  }
  const handle = tools.handle(makeServer)
  return {
    world,
    tools,
    guard: gw.guard,
    makeServer,
    serve: request => handle(request, undefined),
    metadata: request => gw.http.handle(gw.gate.resourceMetadata())(request, undefined),
  }
}

/** A message of a client of 2026-07-28, or with `era: 'legacy'` of 2025-11-25. */
export interface Sent {
  readonly token?: string
  readonly era?: 'modern' | 'legacy'
  readonly id?: number
  readonly meta?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

const PROTOCOL = 'io.modelcontextprotocol'

/** Makes the HTTP request of a message. */
export function messageOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
  sent: Sent = {},
): Request {
  const { token, era = 'modern', id = 1, meta = {}, headers = {} } = sent
  const version = era === 'modern' ? '2026-07-28' : '2025-11-25'
  const envelope =
    era === 'modern'
      ? {
          [`${PROTOCOL}/protocolVersion`]: version,
          [`${PROTOCOL}/clientInfo`]: { name: 'agent', version: '1' },
          [`${PROTOCOL}/clientCapabilities`]: {},
        }
      : {}
  const allMeta = { ...envelope, ...meta }
  const named = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      ...(era === 'modern' ? { 'mcp-method': method, ...named } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id,
      method,
      params: Object.keys(allMeta).length > 0 ? { ...params, _meta: allMeta } : params,
    }),
  })
}

/** Makes the HTTP request of a call of a tool. */
export const callOf = (name: string, args: object, sent?: Sent): Request =>
  messageOf('tools/call', { name, arguments: args }, sent)

/** A JSON-RPC response, of either era. */
export interface Answer {
  readonly id: unknown
  readonly result?: {
    readonly content: readonly { readonly text: string }[]
    readonly isError?: boolean
    readonly structuredContent?: Record<string, unknown>
    readonly tools?: readonly { readonly name: string }[]
  }
  readonly error?: { readonly code: number; readonly message: string }
}

/** Reads the JSON-RPC response of an HTTP response: JSON, or an event stream. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return JSON.parse(text) as Answer
  const data = text.split('\n').filter(line => line.startsWith('data: ') && line.length > 6)
  return JSON.parse((data.at(-1) as string).slice(6)) as Answer
}

/** Reads the denial of a result as a model reads it. */
export const denialOf = ({ result }: Answer): Record<string, unknown> =>
  JSON.parse(result?.content[0]?.text as string) as Record<string, unknown>
