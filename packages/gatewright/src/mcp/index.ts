import type { Gate } from '@gatewright/http'
import type { AmountLike, FetchHandler, OpenHold } from '@gatewright/http/internal'
import { asksForCredential, toolGate, toResponse, type ToolServer } from '@gatewright/http/internal/tools'
import { allow, type Denial, type Session, type Verdict } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import type { Access, SpendHold } from '@gatewright/scope-guard'
import {
  createMcpHandler,
  originValidationResponse,
  type AuthInfo,
  type McpRequestContext,
  type McpServer,
  type RegisteredTool,
} from '@modelcontextprotocol/server'
import type { ReadTool, ToolResult, ToolTexts, TransactionTool, WriteTool } from './options.ts'
import { keptSessions } from './kept-sessions.ts'
import { hideTools, toolRegistrar, type Calling, type CallingOf } from './tools.ts'

export type { ToolResult } from './options.ts'

/** Options of `mcp`. `peer` and `waitUntil` are those of `gatewright/fetch`. */
export interface McpOptions<Env = unknown> extends ToolServer<Env> {
  /** Host names of the pages that may call the server from a browser. Default: those of this machine. A request without `Origin` is of no page. */
  readonly origins?: readonly string[]
  /**
   * Keeps up to 1,000 sessions of clients of revision 2025-11-25 in the memory of this process, 16 for each account, about 150 KB each, so that a tool can ask its client
   * while it runs. All messages of such a client must then come to this process; after a restart it initializes again. Default false: any process
   * serves any message, and only clients of 2026-07-28 can be asked.
   */
  readonly sessionsInMemory?: boolean
}

/** A call of a tool that changes nothing. */
interface ReadCall<A> {
  /** The arguments, as their schema returned them. */
  readonly args: A
  /** The caller: its account, key and scopes. */
  readonly session: Session
  /** Returns a signal that aborts when the client disconnects or cancels the call. */
  signal(): AbortSignal
}

/** A call of a tool that runs at most once for each intent. */
interface WriteCall<A> extends ReadCall<A> {
  /** The stable id of the effect, the same for each repeat of the call: pass it to the payment processor as its idempotency key. */
  readonly effectId: string
  /** Grows with every run of the call. A receiver that rejects a smaller fence than it has seen stops late runs. */
  readonly fence: number
  /** With `spends` or `withdraws` as a function: the amount, which was held before the handler. */
  readonly hold: OpenHold<SpendHold>
  /** With `spends: 'spend'` or `'withdrawal'`: holds an amount under every cap of the caller. Return its denial. */
  reserve(amount: AmountLike): Promise<Verdict<OpenHold<SpendHold>>>
  /** With `spends: 'spend'` or `'withdrawal'`: says that this call spends nothing. */
  spendsNothing(): void
}

/** A call of a tool with `transaction: true`. Use no other connection than `tx` while it runs. */
interface TransactionCall<A, Tx> extends ReadCall<A> {
  readonly tx: Tx
  readonly effectId: string
  readonly fence: number
  /** Holds an amount under every cap of the caller, in the same transaction. Store the hold with your row. */
  reserve(amount: AmountLike): Promise<Verdict<SpendHold>>
  spendsNothing(): void
  /** Ends the run as if it had never begun: nothing is committed or stored. */
  abandon(denial: Denial): never
}

/** Handles a call. Returns its result, or a denial if nothing happened. If it throws, it is not known whether the call took effect. */
type ToolHandler<T> = (call: T) => ToolResult | Denial | Promise<ToolResult | Denial>

/** Registers a guarded tool on a server, as `server.registerTool` registers one that anybody with a session may call. */
interface GuardTool<S extends string, Tx> {
  <A>(
    server: McpServer,
    name: string,
    options: ReadTool<S>,
    texts: ToolTexts<A>,
    handler: ToolHandler<ReadCall<A>>,
  ): RegisteredTool
  <A>(
    server: McpServer,
    name: string,
    options: WriteTool<S, A>,
    texts: ToolTexts<A>,
    handler: ToolHandler<WriteCall<A>>,
  ): RegisteredTool
  <A>(
    server: McpServer,
    name: string,
    options: TransactionTool<S>,
    texts: ToolTexts<A>,
    handler: ToolHandler<TransactionCall<A, Tx>>,
  ): RegisteredTool
}

/** A message that came by HTTP. */
interface Received extends Calling {
  readonly session: Session
  /** The method of the protocol that it names. */
  readonly method: unknown
}

/** The parameters of a call that are read before the SDK checks them. */
interface CallParams {
  readonly name?: unknown
}

/** Makes a server of tools, as `createMcpHandler` and `serveStdio` take it. */
type MakeServer = (context: McpRequestContext) => McpServer | Promise<McpServer>

/** Guards tools of the Model Context Protocol. */
export interface Mcp<S extends string = string, Tx = unknown, Env = unknown> {
  readonly guardTool: GuardTool<S, Tx>
  /**
   * Makes the handler of the path of the server, for both revisions of the protocol (2025-11-25, 2026-07-28). Every message needs a session,
   * and counts under the limits of its caller; a tool registered without `guardTool` needs nothing else. `makeServer` is called for each message, and once before, so that what is wrong
   * with a tool is found at the start.
   */
  handle(makeServer: MakeServer): FetchHandler<Env>
  /**
   * Makes what `serveStdio` of the SDK takes, for a client that starts this process. `token` returns the token of the caller, such as that of
   * an environment variable; it is verified for each call.
   */
  local(makeServer: MakeServer, token: () => string): MakeServer
}

/**
 * Guards the tools of a server of the Model Context Protocol by the gate of a `gatewright`, or one of `@gatewright/http`: sessions, scopes,
 * limits, caps, and at most one effect for each intent. Throws a `TypeError` that says what to write for a wrong option.
 */
export function mcp<S extends string = string, Tx = unknown, Env = unknown>(
  { gate }: { readonly gate: Gate<S, Access, SpendHold, never, Tx> | Gate<S, Access, SpendHold> },
  options: McpOptions<Env>,
): Mcp<S, Tx, Env> {
  const { origins, sessionsInMemory, ...binding } = checkOptions<McpOptions<Env>, typeof OPTIONS>(
    'mcp',
    options,
    OPTIONS,
  )
  const tools = toolGate<Env>(gate, binding)
  const received = new WeakMap<AuthInfo, Received>()
  const localTokens = new WeakMap<McpServer, () => string>()
  const callingOf: CallingOf = (server, { http }) => {
    const calling = http?.authInfo && received.get(http.authInfo)
    const token = localTokens.get(server)
    return calling ?? (token && { message: tools.local(`Bearer ${token()}`), isHttp: false })
  }
  const names = new Set<string>()
  const guardTool = toolRegistrar({ gate: gate as never, callingOf, names, keep: tools.keep })

  return {
    guardTool: guardTool as unknown as GuardTool<S, Tx>,
    handle(makeServer) {
      void Promise.resolve(makeServer({ era: 'modern' })).catch(error =>
        gate.settings.report({ operation: 'mcp', error }),
      )
      const { fetch } = createMcpHandler(async context => {
        const server = await makeServer(context)
        const { session, method } = (context.authInfo && received.get(context.authInfo)) ?? {}
        // A tool that is hidden cannot be called, and a call of it must get the challenge with its scopes.
        if (session && method === 'tools/list') hideTools(server, session)
        return server
      })
      const sessions = sessionsInMemory ? keptSessions(makeServer) : undefined
      const serve = async (request: Request, env: Env): Promise<Response> => {
        const refused = originValidationResponse(request, [...origins])
        if (refused) return refused
        const isPost = request.method === 'POST'
        // Only a session has a stream to read, or an end.
        if (!isPost && !sessions) return fetch(request)
        const message = tools.received(request, env)
        const verified = await message.session()
        if (!verified.ok) return toResponse(verified.response)
        const read = isPost ? await message.read() : allow({})
        if (!read.ok) return message.sent(unreadable(read))
        const { value: session } = verified
        const { method, params } = read.value as { readonly method?: unknown; readonly params?: CallParams }
        // A guarded tool counts its calls itself.
        const isCounted = method === 'tools/call' && names.has(String(params?.name))
        const limited = isCounted ? undefined : await message.admit(session)
        if (limited) return toResponse(limited)
        const authInfo = authInfoOf(session)
        received.set(authInfo, { message, isHttp: true, session, method })
        const options = { authInfo, ...(isPost ? { parsedBody: read.value } : {}) }
        const response =
          (await sessions?.respond({ request, session, method }, options)) ?? (await fetch(request, options))
        const challenge = await message.denied()
        return challenge && asksForCredential(challenge) ? toResponse(challenge) : message.sent(response)
      }
      return (request, ...beside) => tools.keep(serve(request, beside[0] as Env))
    },
    local: (makeServer, token) => async context => {
      const server = await makeServer(context)
      localTokens.set(server, token)
      const verified = await tools.local(`Bearer ${token()}`).session()
      if (verified.ok) hideTools(server, verified.value)
      return server
    },
  }
}

const OPTIONS = {
  peer: true,
  waitUntil: { is: 'function', default: undefined },
  origins: { default: ['localhost', '127.0.0.1', '[::1]'] },
  sessionsInMemory: { is: 'boolean', default: false },
} as const

/** What the SDK tells handlers of unguarded tools about the caller. They do not get the token. */
function authInfoOf(session: Session): AuthInfo {
  const { keyId, scopes, expiresAt } = session
  return { token: '', clientId: keyId, scopes: [...scopes], expiresAt: expiresAt / 1000, extra: { session } }
}

/** The JSON-RPC error of a message that is no JSON object: a batch would pass the gate as one message. */
function unreadable({ status, message }: Denial): Response {
  const error = {
    code: -32600,
    message: `Invalid Request: ${message}. Send one JSON-RPC message in each request.`,
  }
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status })
}
