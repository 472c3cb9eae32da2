import { allow, type Rule, type Session, type Verdict } from '@gatewright/kernel'
import { missingScopes } from '@gatewright/kernel/internal'
import type { OpenGate } from '../gate-types.ts'
import type { OpenCall } from '../handler-types.ts'
import type { WireResponse } from '../ports.ts'
import { codingDenial, parseJsonObject } from '../request/body.ts'
import { fetchFacts, type RequestFacts } from '../request/facts.ts'
import type { Outcome, Render } from '../response/outcome.ts'
import { finish } from '../route/perform.ts'
import type { RequestContext } from '../route/request-context.ts'
import type { CompleteRoute, Connection, IncomingRequest, Route, StepResult } from '../route/steps.ts'
import { readRequest } from './fetch-body.ts'
import { withResponseFields } from './fetch-response.ts'
import { checkedPeer, keepAlive } from './fetch-server.ts'
import type { FetchGateOptions } from './fetch-types.ts'
import { assertGate } from './mount-checks.ts'

export { toResponse } from './fetch-response.ts'
export type { WireResponse } from '../ports.ts'
export { runOf } from '../route/perform.ts'
export type { CompleteRoute } from '../route/steps.ts'
export { hasMetadata, resourceMetadata } from '../response/resource-metadata.ts'
export { assertArguments, assertIntent, canonicalJson, intentKey, type Intent } from '../tools/intent.ts'
export { approvalPageOf } from '../tools/approval-page.ts'
export { asksForCredential, toolRender } from '../tools/render.ts'

/**
 * The path of every call of a tool, whichever path its server has and whether it has one: a call that a client repeats over another
 * connection is the same write.
 */
const PATH = '/mcp'

/** The operation of a message that calls no guarded tool, in decision events. */
const OTHER = 'mcp'

/** The request of an HTTP API for which a call of a tool stands: the same operation, by another way. */
export interface ToolTarget {
  readonly method: string
  /** The path, with its parameters encoded. */
  readonly path: string
  /** The path with the names of its parameters, such as `/cards/:id`. */
  readonly pattern: string
  /** From `?` on, or empty. */
  readonly search: string
  /** Path parameters by name, not encoded. */
  readonly params: Readonly<Record<string, string>>
}

/** What a tool is called with. */
interface ToolCall {
  /** The idempotency key of the call; undefined if it has none, or needs none. */
  readonly key: string | undefined
  /** The arguments as JSON, in a form that is the same for equal arguments. */
  readonly body: Uint8Array
  /** Default: a client that never leaves. */
  readonly connection?: Connection
  /** Renders the outcome. */
  readonly render: Render
}

/** One message of a client, which may call one tool. */
export class ToolMessage {
  readonly #gate: OpenGate
  readonly #received: RequestFacts
  readonly #readBody: () => Promise<Verdict<Uint8Array>>
  readonly #render: Render | undefined
  #target: ToolTarget | undefined
  /** What the gate knows the message by. Not the request: what other middlewares asked the gate about it has no key. */
  #known = {}
  #key: string | undefined
  #authorized: { readonly route: object; readonly denied: Promise<WireResponse | undefined> } | undefined

  /** Without `readBody` the message came by a pipe. `render` renders what ends a message before its call. Default: that of the gate. */
  constructor(
    gate: OpenGate,
    received: RequestFacts,
    {
      readBody = async () => allow(new Uint8Array()),
      render,
    }: { readonly readBody?: () => Promise<Verdict<Uint8Array>>; readonly render?: Render } = {},
  ) {
    this.#gate = gate
    this.#received = received
    this.#readBody = readBody
    this.#render = render
  }

  /** The id of the request in decision events and responses. */
  get requestId(): string {
    return this.#entered().requestId
  }

  /** The id of the effect that the message made or asked about, for operators. */
  get effectId(): string | undefined {
    return this.#entered().decision.effectId
  }

  /** Returns the session of the credential, or the response that denies it. Counts nothing: the tool is not known yet. */
  async session(): Promise<StepResult<Session>> {
    const entered = this.#enter()
    if (!entered.ok) return entered
    const respond = (outcome: Outcome): StepResult<never> => ({ ok: false, response: this.conclude(outcome) })
    try {
      const verdict = await this.#gate.session(this.#known, this.#facts)
      if (!verdict.ok) return respond({ kind: 'denial', denial: verdict })
      const { accountId, keyId, sessionId } = verdict.value
      Object.assign(entered.value.decision, { credential: 'session', ids: { accountId, keyId, sessionId } })
      return verdict
    } catch (error) {
      return respond({ kind: 'failure', error })
    }
  }

  /** Reads the message, whose sender has a session. Denials: as those of any JSON body. */
  async read(): Promise<Verdict<Record<string, unknown>>> {
    const coded = codingDenial(this.#received)
    if (coded) return coded
    const bytes = await this.#readBody()
    return bytes.ok ? parseJsonObject(bytes.value, this.#received.header('content-type')) : bytes
  }

  /**
   * Decides whether the caller may call a tool, once. Returns the denial of a caller who may not, rendered by `render`. With `target` the
   * gate sees the request for which the call stands, instead of the message.
   */
  authorize(route: Route<OpenCall>, render: Render, target?: ToolTarget): Promise<WireResponse | undefined> {
    if (this.#authorized?.route === route) return this.#authorized.denied
    if (target) {
      this.#target = target
      this.#known = {}
    }
    const entered = this.#enter()
    if (!entered.ok) return Promise.resolve(entered.response)
    entered.value.render = render
    const denied = route.authorize(entered.value, this.#incoming(new Uint8Array(), NEVER_ENDS))
    this.#authorized = { route, denied }
    return denied
  }

  /** Returns the denial of a caller who may not call the tool of the message; undefined for any other message. */
  async denied(): Promise<WireResponse | undefined> {
    return this.#authorized?.denied
  }

  /** Runs the call of an authorized caller, or finds the response of an earlier run. Ends whether or not the client is still connected. */
  async run(
    route: Route<OpenCall>,
    { key, body, connection = NEVER_ENDS, render }: ToolCall,
    handle: CompleteRoute<OpenCall>['run'],
  ): Promise<WireResponse> {
    const entered = this.#enter()
    if (!entered.ok) return entered.response
    entered.value.render = render
    this.#key = key
    const started = await route.start(entered.value, this.#incoming(body, connection))
    return started.ok ? finish(started.value, handle) : started.response
  }

  /** Counts a message that calls no guarded tool under the limits of its sender. Returns the response that denies it. */
  async admit(session: Session): Promise<WireResponse | undefined> {
    try {
      const context = this.#entered()
      const verdict = await this.#gate.admit(context, session, MESSAGE)
      if (!verdict.ok) return this.conclude({ kind: 'denial', denial: verdict })
      context.routeFields = verdict.value
      return undefined
    } catch (error) {
      return this.conclude({ kind: 'failure', error })
    }
  }

  /** Ends a message that calls no guarded tool, and returns the response to send. */
  conclude(outcome: Outcome): WireResponse {
    const context = this.#entered()
    context.decision.operation ??= OTHER
    return this.#gate.conclude(context, outcome)
  }

  /** Adds the header fields of the gate to a response of the protocol, and ends a message that called no guarded tool. */
  sent(response: Response): Response {
    const context = this.#entered()
    context.decision.operation ??= OTHER
    this.#gate.sent(context, response.status)
    return withResponseFields(response, [...context.fields(), ...context.routeFields])
  }

  #entered(): RequestContext {
    const entered = this.#enter()
    if (!entered.ok) throw new TypeError('the message was denied before')
    return entered.value
  }

  #enter(): StepResult<RequestContext> {
    const entered = this.#gate.enter(this.#known, this.#facts)
    if (!entered.ok) return entered
    entered.value.decision.byTool = true
    entered.value.render ??= this.#render
    return entered
  }

  /** The facts of the message. Its key is known when its arguments are read; a field `Idempotency-Key` of the request is none. */
  readonly #facts = (): RequestFacts => {
    const { path: receivedPath, header } = this.#received
    const { method, path, search, query } = this.#target
      ? { ...this.#target, query: new URLSearchParams(this.#target.search) }
      : { ...this.#received, path: PATH }
    return {
      ...this.#received,
      method,
      path,
      search,
      query,
      receivedPath,
      header: name => (name === 'idempotency-key' ? this.#key : header(name)),
    }
  }

  #incoming(body: Uint8Array, connection: Connection): IncomingRequest {
    return {
      request: this.#known,
      facts: this.#facts,
      params: this.#target?.params ?? {},
      pattern: this.#target?.pattern,
      readBody: async () => allow(body),
      connection,
      replaceBody: undefined,
    }
  }
}

const NEVER_ENDS: Connection = { ended: false, signal: new AbortController().signal }

/** The rule of a message that calls no guarded tool: the limits for requests of every class count it. */
const MESSAGE = { operation: 'mcp.message', allOf: [] } as const

/** What a binding needs to know about its server: options of the fetch binding. */
export type ToolServer<Env> = Pick<FetchGateOptions<Env>, 'peer' | 'waitUntil'>

/** Makes messages of the tools of a gate. */
interface ToolGate<Env> {
  /** Begins a message that came by HTTP. */
  received(request: Request, env: Env): ToolMessage
  /** Begins a message of the process that started this one. */
  local(authorization: string): ToolMessage
  /** Keeps the runtime running until a promise has ended. */
  keep<T>(work: Promise<T>): Promise<T>
}

/** Binds a gate to a server of tools. The options are checked. Throws a `TypeError` without `peer`. */
export function toolGate<Env>(gate: OpenGate, { peer: given, waitUntil }: ToolServer<Env>): ToolGate<Env> {
  assertGate('mcp', gate)
  const peer = checkedPeer(given, gate.settings.proxied)
  return {
    keep: keepAlive(waitUntil),
    received: (request, env) =>
      new ToolMessage(gate, fetchFacts(request, peer(request, env), gate.settings.trusted), {
        readBody: () => readRequest(() => request, gate.settings.bodyLimitBytes),
      }),
    local: authorization => new ToolMessage(gate, localFacts(authorization)),
  }
}

/** The facts of a message that came by a pipe: nobody else can read it. */
function localFacts(authorization: string): RequestFacts {
  const fields: Readonly<Record<string, string>> = { authorization, 'content-type': 'application/json' }
  return {
    method: 'POST',
    path: PATH,
    query: new URLSearchParams(),
    search: '',
    header: name => (Object.hasOwn(fields, name) ? fields[name] : undefined),
    address: '',
    secure: true,
  }
}

/** Whether a session may call an operation: its surface and its scopes. A list of tools has no others. */
export function mayCall({ allOf = [], anyOf = [], surface }: Rule, session: Session): boolean {
  const { scopes } = session
  const hasOne = anyOf.length === 0 || anyOf.some(scope => scopes.includes(scope))
  return (
    hasOne && missingScopes(allOf, scopes).length === 0 && (surface ?? session.surface) === session.surface
  )
}
