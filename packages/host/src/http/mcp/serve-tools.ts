import { readRawBody } from '@gatewright/http/node'
import { requestFacts, send, type RequestFacts } from '@gatewright/http/koa'
import type { Outcome, Render } from '@gatewright/http/internal'
import {
  approvalPageOf,
  asksForCredential,
  hasMetadata,
  intentKey,
  mayCall,
  resourceMetadata,
  ToolMessage,
  type WireResponse,
} from '@gatewright/http/internal/tools'
import type { Denial, HeaderField, Session } from '@gatewright/kernel'
import type { CallToolResult, McpRequestContext, McpServer, Resource } from '@modelcontextprotocol/server'
import { addressBucket } from '@gatewright/kernel/address'
import type { Context } from 'koa'
import { deny } from '../codes.ts'
import { commonHeaders, optionsResponse } from '../cors.ts'
import { httpsRequired } from '../credentials/credentials.ts'
import type { EntryLimits } from '../credentials/limits.ts'
import type { HostGate, McpOptions } from '../mount/host-gate.ts'
import { requestOf, type HostTool } from './host-tool.ts'
import { hostToolRender, intent } from './tool-render.ts'

/** The path of the server of tools. */
const MCP_PATH = '/mcp'

/** What serving tools needs. */
interface ToolServices {
  readonly gate: HostGate
  readonly limits: Pick<EntryLimits, 'document'>
  readonly options: McpOptions
}

/** A message that calls a tool of this host, or reads a resource by one. */
interface Called {
  /** The response that asks the client for another credential, and is sent instead of a result. */
  readonly instead: WireResponse | undefined
  run(): Promise<CallToolResult>
}

/** A message of a client, which the SDK responds to. */
interface Received {
  readonly session: Session
  readonly called: Called | undefined
}

/** The SDK, loaded at the first message: it takes longer than all other code of a start. */
type Sdk = typeof import('@modelcontextprotocol/server')

/**
 * Serves the tools to clients of the Model Context Protocol (2025-11-25 and 2026-07-28), without sessions of the protocol. A call of a tool runs
 * the route of its operation, as the request of the HTTP API for which it stands. Other messages change nothing; they count under the limits of every request.
 * Returns what serves each path.
 */
export function serveTools(
  tools: readonly HostTool[],
  { gate, limits, options }: ToolServices,
): ReadonlyMap<string, (ctx: Context) => Promise<void>> {
  const { origin, requireHttps } = options
  const byName = new Map<unknown, HostTool>(tools.map(tool => [tool.shown.name, tool]))
  const hostNames = [new URL(origin).hostname, 'localhost', '127.0.0.1', '[::1]']
  const received = new WeakMap<Request, Received>()
  const byUri = new Map<unknown, HostTool>(resourcesOf(tools).map(([{ uri }, tool]) => [uri, tool]))
  const metadata = metadataOf(origin)
  const challenge = pointingRender(gate, metadata)
  const load = once(async () => {
    const sdk = await import('@modelcontextprotocol/server')
    const makeServer = serverMaker(sdk, tools, received, options)
    const { fetch } = sdk.createMcpHandler(makeServer, { maxSubscriptions: 0 })
    return { sdk, fetch }
  })

  const respond = async (ctx: Context): Promise<WireResponse> => {
    const { trusted, bodyLimitBytes } = gate.settings
    const facts = requestFacts(ctx, trusted)
    const message = new ToolMessage(gate, facts, {
      readBody: () => readRawBody(ctx.req, bodyLimitBytes),
      render: challenge,
    })
    const deniedBy = (denial: Denial & { readonly headers?: readonly HeaderField[] }): WireResponse =>
      message.conclude({ kind: 'denial', denial })
    if (ctx.path !== MCP_PATH) return describe(message, facts)
    if (requireHttps && !facts.secure) return deniedBy(httpsRequired)
    if (ctx.method === 'OPTIONS')
      return message.conclude({ kind: 'response', response: optionsResponse(['POST', 'OPTIONS']) })
    if (ctx.method !== 'POST') return deniedBy(onlyPost)
    const { sdk, fetch } = await load()
    const request = new Request(new URL(MCP_PATH, origin), { method: 'POST', headers: headersOf(ctx) })
    const foreign = sdk.originValidationResponse(request, hostNames)
    if (foreign) return sent(message, foreign)
    const verified = await message.session()
    if (!verified.ok) return verified.response
    const { value: session } = verified
    const read = await message.read()
    if (!read.ok) return sent(message, unreadable(read))
    const { method, params } = read.value as { method?: unknown; params?: CallParams }
    const isRead = method === 'resources/read'
    const named = method === 'tools/call' ? byName.get(params?.name) : undefined
    const tool = isRead ? byUri.get(params?.uri) : named
    const limited = tool ? undefined : await message.admit(session)
    if (limited) return limited
    const given = isRead ? { arguments: tool?.operation.resource?.arguments?.(session) } : params
    const called = tool && (await authorized(tool, given, message, challenge))
    if (called?.instead) return called.instead
    received.set(request, { session, called })
    const response = await fetch(request, { parsedBody: read.value })
    return sent(message, response)
  }

  /** Responds with the metadata of the server, which anybody may read. */
  const describe = async (message: ToolMessage, { method, address }: RequestFacts): Promise<WireResponse> => {
    const conclude = (outcome: Outcome): WireResponse => message.conclude(outcome)
    if (method !== 'GET' && method !== 'HEAD') return conclude({ kind: 'denial', denial: onlyGet })
    const limited = await limits.document(`mcp ${addressBucket(address)}`)
    if (!limited.ok) return conclude({ kind: 'denial', denial: limited })
    const { document: body } = metadata as NonNullable<typeof metadata>
    return conclude({ kind: 'response', response: { status: 200, headers: limited.value, body } })
  }

  const serve = async (ctx: Context): Promise<void> => {
    let response: WireResponse
    try {
      response = await respond(ctx)
    } catch (error) {
      const message = new ToolMessage(gate, requestFacts(ctx, gate.settings.trusted))
      response = message.conclude({ kind: 'failure', error })
    }
    send(ctx, response)
  }
  return new Map([[MCP_PATH, serve], ...(metadata ? [[metadata.path, serve] as const] : [])])
}

/** Lists the resources of tools, each with the tool that reads it. */
function resourcesOf(tools: readonly HostTool[]): readonly (readonly [resource: Resource, tool: HostTool])[] {
  return tools.flatMap(tool => {
    const { resource, title } = tool.operation
    if (!resource) return []
    const { name } = resource
    return [[{ uri: `gatewright://${name}`, name, title, mimeType: 'application/json' }, tool] as const]
  })
}

/** The parameters of a call. */
interface CallParams {
  readonly name?: unknown
  readonly uri?: unknown
  readonly arguments?: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Decides whether the caller may call a tool. */
async function authorized(
  tool: HostTool,
  { arguments: given, _meta: meta }: CallParams = {},
  message: ToolMessage,
  challenge: Render,
): Promise<Called> {
  const { route, takesIntent } = tool
  const args = (typeof given === 'object' && given !== null ? given : {}) as Readonly<Record<string, unknown>>
  const { target, body } = requestOf(tool, args)
  const renderFor = (otherwise?: Render): Render => hostToolRender(tool, otherwise, () => message.effectId)
  const denied = await message.authorize(route, renderFor(challenge), target)
  return {
    instead: denied && asksForCredential(denied) ? denied : undefined,
    async run() {
      const key = takesIntent ? intentKey(intent, args, meta) : undefined
      // It runs to its end also when its client has left.
      const { body: text } =
        denied ?? (await message.run(route, { key, body, render: renderFor() }, route.run))
      return JSON.parse(text) as CallToolResult
    },
  }
}

/** Makes the function that makes the server of one message. */
function serverMaker(
  { inputRequired, McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError }: Sdk,
  tools: readonly HostTool[],
  received: WeakMap<Request, Received>,
  { serviceName, version }: McpOptions,
): (context: McpRequestContext) => McpServer {
  const resources = resourcesOf(tools)
  return ({ requestInfo }) => {
    const { session, called } = received.get(requestInfo as Request) as Received
    const made = new McpServer(
      { name: 'gatewright', title: serviceName, version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    )
    made.server.setRequestHandler('tools/list', () => ({
      tools: tools.filter(({ rule }) => mayCall(rule, session)).map(({ shown }) => shown),
    }))
    made.server.setRequestHandler('tools/call', async ({ params: { name } }, { mcpReq }) => {
      if (!called) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No tool has the name ${name}`)
      const result = await called.run()
      const { envelope, inputResponses } = mcpReq
      // Without sessions, it is not known what a client of 2025-11-25 can do.
      const page = approvalPageOf(result, {
        envelope,
        inputResponses,
      })
      if (!page) return result
      const { name: asked, url, message } = page
      return inputRequired({ inputRequests: { [asked]: inputRequired.elicitUrl({ url, message }) } })
    })
    made.server.setRequestHandler('resources/list', () => ({
      resources: resources.filter(([, { rule }]) => mayCall(rule, session)).map(([resource]) => resource),
    }))
    made.server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
    made.server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      if (!called) throw new ResourceNotFoundError(uri)
      const { isError, structuredContent } = await called.run()
      const said = structuredContent as Readonly<Record<string, unknown>>
      if (isError === true) throw new ProtocolError(DENIED, said['message'] as string, said)
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(said) }] }
    })
    return made
  }
}

/** The code of a read that was denied. The protocol has those from -32768 to -32000. */
const DENIED = 1

const INSTRUCTIONS =
  'The account of one person: money, cards and payments. Amounts whose names end with Cents are in US cents. What a call may spend is limited by ' +
  'the key of the session; a denial names the limit and says what to do. A write takes an intent, which names what the person asked for: send ' +
  'the same one when you call again for the same thing.'

/**
 * Where clients read about the server; undefined for one that other machines reach without HTTPS. No authorization server issues the tokens:
 * a key mints them (docs/agent-tools.md).
 */
function metadataOf(origin: string): ReturnType<typeof resourceMetadata> | undefined {
  if (!hasMetadata(new URL(origin))) return undefined
  const options = { resource: `${origin}${MCP_PATH}`, authorizationServers: [] }
  return resourceMetadata(options, { scopes: undefined, dpop: undefined })
}

/** The renderer of the gate, whose challenges lead to the metadata of the server. */
function pointingRender({ settings }: HostGate, metadata: ReturnType<typeof metadataOf>): Render {
  if (!metadata) return settings.render
  const pointed = (outcome: Outcome): Outcome =>
    outcome.kind === 'denial' ? { kind: 'denial', denial: metadata.pointTo(outcome.denial) } : outcome
  return (outcome, context) => settings.render(pointed(outcome), context)
}

const onlyGet = {
  ...deny('method_not_allowed', 'This path allows GET, HEAD.'),
  headers: [['Allow', 'GET, HEAD']] as const,
}

const onlyPost = {
  ...deny('method_not_allowed', 'This path allows POST, OPTIONS.'),
  headers: [['Allow', 'POST, OPTIONS']] as const,
}

/** The JSON-RPC error of a message that is no JSON object: a batch would pass as one message. */
function unreadable({ status, message }: Denial): Response {
  const error = {
    code: -32600,
    message: `Invalid Request: ${message}. Send one JSON-RPC message in each request.`,
  }
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status })
}

/** Ends a message with a response of the SDK. */
async function sent(message: ToolMessage, response: Response): Promise<WireResponse> {
  const body = await response.text()
  const { status, headers } = message.sent(new Response(null, response))
  const own = [...headers] as readonly HeaderField[]
  const names = new Set(own.map(([name]) => name.toLowerCase()))
  const missing = commonHeaders.filter(([name]) => !names.has(name.toLowerCase()))
  return {
    status,
    headers: [...own, ...missing, ['X-Request-Id', message.requestId]],
    body,
  }
}

function headersOf({ req }: Context): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers))
    if (value !== undefined && !name.startsWith(':'))
      headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  return headers
}

/** Loads a value at the first call, and after a failure again at the next. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load()
    loading.catch(() => (loading = undefined))
    return loading
  }
}
