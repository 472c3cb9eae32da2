import type { Gate, HandlerResponse, OpenCall } from '@gatewright/http'
import type { GuardedCall, Route } from '@gatewright/http/internal'
import {
  approvalPageOf,
  asksForCredential,
  assertArguments,
  canonicalJson,
  intentKey,
  mayCall,
  runOf,
  toolRender,
  type CompleteRoute,
  type ToolMessage,
} from '@gatewright/http/internal/tools'
import type { Denial, Rule, Session } from '@gatewright/kernel'
import type { Access, SpendHold } from '@gatewright/scope-guard'
import {
  inputRequired,
  UrlElicitationRequiredError,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  type RegisteredTool,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import { writeRequestOf } from '../requests.ts'
import { checkedTool, type AnyTool, type CheckedTool, type ToolResult, type ToolTexts } from './options.ts'

type AnyGate = Gate<string, Access, SpendHold>
/** The handler of a tool of any kind. */
export type AnyHandler = (call: never) => ToolResult | Denial | Promise<ToolResult | Denial>

/** The message by which a tool was called, and whether its client can get another credential. */
export interface Calling {
  readonly message: ToolMessage
  readonly isHttp: boolean
}

/** A tool of one server, and who may call it. */
interface GuardedTool {
  readonly rule: Rule
  readonly registered: RegisteredTool
}

/** The guarded tools of each server. */
const guardedTools = new WeakMap<McpServer, GuardedTool[]>()

/** Hides the tools from a server's list that a session may not call. A call of one still gets the challenge with its scopes. */
export function hideTools(server: McpServer, session: Session): void {
  for (const { rule, registered } of guardedTools.get(server) ?? [])
    if (!mayCall(rule, session)) registered.disable()
}

/** Returns the message of a call; undefined for a server that is not served by `handle` or `local`. */
export type CallingOf = (server: McpServer, context: Pick<ServerContext, 'http'>) => Calling | undefined

/** What registering tools needs. */
interface RegistrarDependencies {
  readonly gate: AnyGate
  readonly callingOf: CallingOf
  /** Gets the name of each guarded tool. */
  readonly names: Set<string>
  /** Keeps the runtime running until a promise has ended. */
  readonly keep: <T>(work: Promise<T>) => Promise<T>
}

/** Makes the function that registers guarded tools. */
export function toolRegistrar({
  gate,
  callingOf,
  names,
  keep,
}: RegistrarDependencies): (
  server: McpServer,
  name: string,
  options: AnyTool,
  texts: ToolTexts<never>,
  handler: AnyHandler,
) => RegisteredTool {
  /** A server is made for each request, and a gate takes one rule for each operation. */
  const rules = new Map<string, Rule>()
  const sameRule = (rule: Rule): Rule => {
    const known = rules.get(rule.operation)
    if (known && canonicalJson(known) !== canonicalJson(rule))
      throw new TypeError(
        `${rule.operation} is declared twice, by ${JSON.stringify(known)} and by ${JSON.stringify(rule)}: give each tool an operation of its own`,
      )
    rules.set(rule.operation, known ?? rule)
    return known ?? rule
  }
  return (server, name, options, texts, handler) => {
    if (typeof server?.registerTool !== 'function')
      throw new TypeError(`${name}: the first argument must be an McpServer of @modelcontextprotocol/server`)
    if (typeof handler !== 'function')
      throw new TypeError(`${name}: the handler must be a function, got ${typeof handler}`)
    const tool = checkedTool(name, options, texts)
    const isFirst = !rules.has(tool.rule.operation)
    const checked = { ...tool, rule: sameRule(tool.rule) }
    names.add(name)
    const { outputSchema, inputSchema, annotations, ...shown } = texts
    const respond = responder(name, handler, outputSchema)
    let route: CompleteRoute<OpenCall> | undefined
    const routeOf = (): CompleteRoute<OpenCall> => (route ??= declare(gate, checked, respond))
    const { intent } = checked
    // What is wrong with a declaration is found when the first server is made.
    if (isFirst) {
      if (intent)
        assertArguments(name, intent, inputSchema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }))
      routeOf()
    }
    const rendered = { intent, hasOutputSchema: outputSchema !== undefined }
    /** A denial of the caller is the response to an HTTP request. Once the tool is called, every outcome is a result. */
    const authorize = ({ message, isHttp }: Calling) =>
      message.authorize(
        routeOf(),
        toolRender(rendered, isHttp ? gate.settings.render : undefined, () => message.effectId),
      )
    const registered = server.registerTool(
      name,
      {
        ...shown,
        inputSchema: unchecked(inputSchema),
        ...(outputSchema ? { outputSchema } : {}),
        annotations: { readOnlyHint: checked.kind === 'read', idempotentHint: true, ...annotations },
        async scopeChallenge({ authInfo }) {
          const calling = callingOf(server, { http: authInfo ? { authInfo } : {} })
          const denied = calling && (await authorize(calling))
          // The message has its response, which is sent instead of this one.
          return calling?.isHttp && denied && asksForCredential(denied) ? { scopes: ['denied'] } : undefined
        },
      },
      async (args: unknown, context): Promise<CallToolResult | InputRequiredResult> => {
        const calling = callingOf(server, context)
        if (!calling)
          throw new TypeError(`${name} is guarded: serve its server by handle or local of gatewright/mcp`)
        const { message } = calling
        const denied = await authorize(calling)
        const given = (args ?? {}) as Record<string, unknown>
        const { signal, ['_meta']: meta } = context.mcpReq
        const response =
          denied ??
          (await keep(
            message.run(
              routeOf(),
              {
                key: intent && intentKey(intent, given, meta),
                body: new TextEncoder().encode(canonicalJson(given)),
                connection: { ended: signal.aborted, signal },
                render: toolRender(rendered, undefined, () => message.effectId),
              },
              routeOf().run,
            ),
          ))
        return elicited(server, context, JSON.parse(response.body) as CallToolResult)
      },
    )
    const others = guardedTools.get(server) ?? []
    guardedTools.set(server, [...others, { rule: checked.rule, registered }])
    return registered
  }
}

/**
 * Asks a client that can open pages to open that of an approval: by the result (2026-07-28), or by the error of 2025-11-25, which is thrown. Returns
 * any other result as it is.
 */
function elicited(
  server: McpServer,
  { mcpReq }: Pick<ServerContext, 'mcpReq'>,
  result: CallToolResult,
): CallToolResult | InputRequiredResult {
  const { envelope, inputResponses } = mcpReq
  const initialized = server.server.getClientCapabilities()
  const page = approvalPageOf(result, { envelope, initialized, inputResponses })
  if (!page) return result
  const { name, url, message, elicitationId } = page
  if (envelope) return inputRequired({ inputRequests: { [name]: inputRequired.elicitUrl({ url, message }) } })
  throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message }])
}

/** The schema of arguments as clients are told it. The gate checks them, and its denial names the field. */
function unchecked(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const { jsonSchema } = schema['~standard']
  return {
    '~standard': { version: 1, vendor: 'gatewright', validate: value => ({ value }), jsonSchema },
  }
}

/** Makes the function that runs a handler with its argument, and checks what it returns before its run ends. */
function responder(
  name: string,
  handler: AnyHandler,
  outputSchema: StandardSchemaWithJSON | undefined,
): (argument: object) => Promise<HandlerResponse> {
  return async argument => {
    const returned = await handler(argument as never)
    if (typeof returned === 'object' && returned !== null && 'ok' in returned) return returned
    return { status: 200, body: await checkedResult(name, returned, outputSchema) }
  }
}

/** Completes what a handler returned. Throws a `TypeError` for anything else than a result. */
async function checkedResult(
  name: string,
  returned: ToolResult & { readonly isError?: unknown },
  outputSchema: StandardSchemaWithJSON | undefined,
): Promise<ToolResult> {
  const { content, structuredContent } = returned ?? {}
  if (!Array.isArray(content) && (typeof structuredContent !== 'object' || structuredContent === null))
    throw new TypeError(
      `${name}: the handler must return { content: [...] }, { structuredContent: { ... } } or a denial, got ${returned === undefined ? 'nothing: a return is missing' : typeof returned}`,
    )
  if (returned.isError !== undefined)
    throw new TypeError(
      `${name}: isError does not say whether the call took effect: return a denial ({ ok: false, code, status: 422, message }) if nothing happened, and throw if that is not known`,
    )
  const result = outputSchema && (await outputSchema['~standard'].validate(structuredContent))
  const [issue] = result?.issues ?? []
  if (issue) throw new TypeError(`${name}: structuredContent does not fit outputSchema: ${issue.message}`)
  return content
    ? returned
    : { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], ...returned }
}

/** Declares a tool on the gate. */
function declare(
  gate: AnyGate,
  { kind, rule, route, amount }: CheckedTool,
  respond: (argument: object) => Promise<HandlerResponse>,
): CompleteRoute<OpenCall> {
  if (kind === 'transaction')
    return gate.transactional(
      rule,
      (call, context) =>
        respond({ args: call.input.body, session: call.session, signal: call.signal, ...context }),
      route,
    )
  if (kind === 'read') {
    const declared: Route<OpenCall> = gate.guarded(rule, route)
    return complete(declared, call => {
      const { input, session, signal } = call as GuardedCall<Access>
      return respond({ args: input.body, session, signal })
    })
  }
  const amountOf = amount && { amount: ({ input }: OpenCall) => amount(input.body as never) }
  const declared = gate.idempotent(rule, { ...route, ...amountOf } as never) as Route<OpenCall>
  const requestOf = writeRequestOf(rule.operation)
  return complete(declared, call => {
    const { body: args, session, signal, effectId, fence, hold, reserve, spendsNothing } = requestOf(call)
    return respond({ args, session, signal, effectId, fence, hold, reserve, spendsNothing })
  })
}

const complete = (
  route: Route<OpenCall>,
  handler: (call: OpenCall) => Promise<HandlerResponse>,
): CompleteRoute<OpenCall> => ({ ...route, run: runOf(route, handler) })
