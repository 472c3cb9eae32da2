import { knownOptions, type Verdict } from '@gatewright/kernel'
import { addedFields, capturedAnswer, fieldPairs, streamRefusal } from './captured.ts'
import { nodeFacts, splitTarget, type NodeRequest, type RequestFacts } from './facts.ts'
import { keepRawBodies, keptBytes, parserDenial } from './fastify-body.ts'
import type {
  FastifyBody,
  FastifyGate,
  FastifyHooks,
  FastifyReply,
  FastifyRequest,
  FastifyRoute,
} from './fastify-types.ts'
import type { OpenGate } from './gate-types.ts'
import { BODY_OPTION, checkGate } from './mounting.ts'
import { checkedBody, parsedBytes } from './node-body.ts'
import { connectionOf, type Connection } from './node-response.ts'
import type { Outcome } from './outcome.ts'
import type { WireAnswer } from './parts.ts'
import { authorise, checkGuarding, finish, runOf, type Handler } from './perform.ts'
import type { Admitted, Authorised, OpenCall, Route } from './stages.ts'

export type {
  FastifyApp,
  FastifyBody,
  FastifyGate,
  FastifyHooks,
  FastifyReply,
  FastifyRequest,
  FastifyRoute,
} from './fastify-types.ts'

/** What is known of one request while it passes the hooks. */
interface Progress {
  readonly route: object
  readonly authorised: Authorised
  readonly connection: Connection
  admitted?: Admitted<OpenCall>
  /** Its handler has failed: what is sent is the answer of an error handler. */
  failed?: true
}

/** Fastify has a parser of JSON unless it was removed. */
const PARSER = 'a content type parser (addContentTypeParser) that gives the parsed body'

/** Binds a gate to Fastify 5. Throws a `TypeError` without a gate or `body`. */
export function fastifyGate(gate: OpenGate, options: { readonly body: FastifyBody }): FastifyGate {
  checkGate('fastifyGate', gate)
  const { body } = knownOptions('fastifyGate', options, BODY_OPTION)
  checkedBody(body, ['kept', 'parsed'])
  const { settings } = gate
  const progress = new WeakMap<object, Progress>()
  const facts = (raw: NodeRequest) => (): RequestFacts => nodeFacts(raw, settings.trusted)
  const read = (request: FastifyRequest): Verdict<Uint8Array> =>
    body === 'kept' ? keptBytes(request) : parsedBytes(request.body, request.raw, PARSER)

  const hooks = <C extends OpenCall>(
    route: Route<C>,
    written: boolean,
  ): Pick<FastifyHooks, 'onRequest' | 'preHandler'> => ({
    async onRequest(request, reply) {
      const { raw } = request
      const stage = await authorise(gate, route, {
        request: raw,
        facts: facts(raw),
        params: paramsOf(request),
      })
      if (!stage.ok) return sendReply(reply, stage.answer)
      progress.set(raw, { route, authorised: stage.value, connection: connectionOf(reply.raw) })
      return undefined
    },
    async preHandler(request, reply) {
      const { route: held, authorised, connection } = progress.get(request.raw) as Progress
      const readBody = async (): Promise<Verdict<Uint8Array>> => read(request)
      const stage = await route.admit(authorised, {
        params: paramsOf(request),
        readBody,
        connection,
        written,
      })
      if (!stage.ok) return sendReply(reply, stage.answer)
      progress.set(request.raw, { route: held, authorised, connection, admitted: stage.value })
      for (const [name, value] of stage.value.fields) reply.header(name, value)
      return undefined
    },
  })
  const admittedOf = <C extends OpenCall>(route: Route<C>, { raw }: FastifyRequest): Admitted<C> => {
    const held = progress.get(raw)
    if (held?.route === route && held.admitted) return held.admitted as unknown as Admitted<C>
    throw new TypeError(`${route.operation}: mount the route with hooks(route)`)
  }

  return {
    plugin: pluginOf(gate, body, facts),
    rewriteUrl(raw) {
      const [path, search] = splitTarget(raw.url ?? '')
      const entered = gate.enter(raw, facts(raw))
      return (entered.ok ? entered.value.facts.path : path) + search
    },
    handle<C extends OpenCall>(route: Route<C>, handler?: Handler<C>): FastifyRoute {
      const run = runOf(route, handler)
      return {
        ...hooks(route, false),
        onSend: async (_request, _reply, payload) => payload,
        bodyLimit: settings.bodyLimitBytes,
        handler: async (request, reply) => sendReply(reply, await finish(admittedOf(route, request), run)),
        errorHandler(error, { raw }, reply) {
          const entered = gate.enter(raw, facts(raw))
          if (!entered.ok) return void sendReply(reply, entered.answer)
          const denial = parserDenial(error, settings.bodyLimitBytes)
          const outcome: Outcome = denial ? { kind: 'denial', denial } : { kind: 'failure', error }
          sendReply(reply, gate.conclude(entered.value, outcome))
        },
      }
    },
    hooks: route => ({
      ...hooks(checkGuarding(route), true),
      async onError({ raw }) {
        const held = progress.get(raw)
        if (held) held.failed = true
      },
      async onSend({ raw }, reply, payload) {
        const { admitted, authorised, failed } = progress.get(raw) ?? {}
        if (!admitted) {
          // A body parser has failed.
          if (authorised) gate.sent(authorised.exchange, reply.statusCode)
          return payload
        }
        if (!route.idempotent) {
          admitted.sent(reply.statusCode)
          return payload
        }
        if (failed) {
          await admitted.lose(reply.statusCode)
          return payload
        }
        return capture(reply, payload, route.operation, admitted, settings.answerLimitBytes)
      },
    }),
    call: (route, request) => admittedOf(route, request).call,
  }
}

/** Fastify encapsulates what a plugin adds, unless it carries this symbol. */
function pluginOf(
  gate: OpenGate,
  body: FastifyBody,
  facts: (raw: NodeRequest) => () => RequestFacts,
): FastifyGate['plugin'] {
  const plugin: FastifyGate['plugin'] = (app, _options, done) => {
    if (body === 'kept') keepRawBodies(app)
    app.addHook('onRequest', async ({ raw }, reply) => {
      const entered = gate.enter(raw, facts(raw))
      if (!entered.ok) return sendReply(reply, entered.answer)
      for (const [name, value] of entered.value.fields()) reply.header(name, value)
      return undefined
    })
    done()
  }
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  return (params ?? {}) as Record<string, string>
}

function sendReply(reply: FastifyReply, { status, headers, body }: WireAnswer): FastifyReply {
  reply.code(status)
  for (const [name, value] of headers) reply.header(name, value)
  reply.send(body === '' ? undefined : body)
  return reply
}

/** Ends the run by what the handler, or the application's error handler, sends. */
async function capture(
  reply: FastifyReply,
  payload: unknown,
  operation: string,
  { settle, fail }: Admitted<OpenCall>,
  limitBytes: number,
): Promise<unknown> {
  const status = reply.statusCode
  const text = typeof payload === 'string' || payload instanceof Uint8Array
  const stream = !text && payload !== null && payload !== undefined
  const given = capturedAnswer(status, fieldPairs({ ...reply.getHeaders() }), text ? payload : '', limitBytes)
  const answer = stream ? await fail(streamRefusal(operation, payload)) : await settle(given)
  for (const [name, value] of addedFields(given, answer)) reply.header(name, value)
  if (answer.status === status && !stream) return payload
  reply.code(answer.status)
  for (const [name, value] of answer.headers) reply.header(name, value)
  reply.removeHeader('content-length')
  return answer.body
}
