import { allow, type Denial, type HeaderField, type Verdict } from '@gatewright/kernel'
import type { GuardedCall, OpenCall, RouteOptions } from '../handler-types.ts'
import { startRecord, type RecordDependencies } from '../idempotency/record.ts'
import type { AccessLike, CallerIds, WireResponse } from '../ports.ts'
import { codingDenial, isJson } from '../request/body.ts'
import type { CanonicalFacts } from '../request/facts.ts'
import { hasOldFields, jsonReader, readInput, type InputSchemas } from '../request/input.ts'
import { replayOutcome, withoutMark, type Outcome } from '../response/outcome.ts'
import { conclude, concludeSent } from './conclude.ts'
import { anonymous, type Authenticate } from './credentials.ts'
import { mountedTwice } from './guarding.ts'
import type { Authentication, GateContext, RequestContext } from './request-context.ts'
import { Run } from './run.ts'
import type { IncomingRequest, Route, StepResult } from './steps.ts'

/** What the steps of a route need. */
export interface RouteDependencies {
  readonly gate: GateContext
  readonly operation: string
  readonly authenticate?: Authenticate
  readonly admit?: RouteOptions['admit'] | undefined
  readonly schemas?: InputSchemas
  /** The idempotency record of the operation, if it is idempotent. */
  readonly recording?: RecordDependencies
}

const NONE: ReadonlySet<number> = new Set()

/**
 * Makes the steps of one operation in their fixed order: credential, the `admit` option of the route, parameters and body,
 * idempotency record. The first step that denies ends the request.
 */
export function makeRoute<C extends OpenCall>(dependencies: RouteDependencies): Route<C> {
  const { gate, operation, recording } = dependencies
  return {
    operation,
    idempotent: recording !== undefined,
    readsBody: readsBody(dependencies),
    renamesFields: gate.aliases?.renamesFields?.(operation) === true,
    noEffectStatuses: recording?.noEffectStatuses ?? NONE,

    authorize(context, { params, pattern }) {
      if (typeof pattern === 'string') context.decision.route = pattern
      return authorize(dependencies, context, params)
    },

    async start(context, incoming) {
      try {
        return await start<C>(dependencies, context, incoming)
      } catch (error) {
        return { ok: false, response: conclude(gate, context, { kind: 'failure', error }) }
      }
    },
  }
}

/** Whether the body is recorded or checked. */
const readsBody = ({ recording, schemas }: RouteDependencies): boolean =>
  recording !== undefined || schemas?.body !== undefined

/**
 * Whether the gate reads the body of a request. An existing handler may read the body of a GET, if a parser runs for every method, so the
 * gate reads only what it records or checks.
 */
export function needsBody(
  route: Pick<Route<never>, 'readsBody'>,
  { method }: Pick<CanonicalFacts, 'method'>,
  { replaceBody }: Pick<IncomingRequest, 'replaceBody'>,
): boolean {
  return replaceBody ? route.readsBody : method !== 'GET' && method !== 'HEAD'
}

/** Verifies the credential and applies the limits of the route. Notes the caller in the context. Returns the response to a denied request. */
async function authorize(
  { gate, operation, authenticate = anonymous, admit }: RouteDependencies,
  context: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<WireResponse | undefined> {
  const { facts, decision } = context
  const startedAt = performance.now()
  // A server may handle the same request object again, as a retry does.
  const isMountedTwice = decision.operation === operation && !decision.emitted
  decision.operation = operation
  try {
    if (isMountedTwice) throw mountedTwice(operation)
    const authenticated = await authenticate(facts)
    context.authenticatedAtMs = performance.now()
    decision.guardMs = context.authenticatedAtMs - startedAt
    if (!authenticated.ok) {
      decision.ids = deniedIds(authenticated) ?? decision.ids
      return conclude(gate, context, { kind: 'denial', denial: authenticated })
    }
    noteCaller(context, authenticated.value)
    if (!admit) return undefined
    const { caller } = authenticated.value
    const admitted = await admit({ facts, params, caller })
    decision.guardMs = performance.now() - startedAt
    if (!admitted.ok) return conclude(gate, context, { kind: 'denial', denial: admitted })
    context.routeFields = joinRateLimits(context.routeFields, admitted.value)
    return undefined
  } catch (error) {
    return conclude(gate, context, { kind: 'failure', error })
  }
}

/** Returns the ids of a caller who was verified and then denied: a guard gives them with its denial. */
function deniedIds({ evidence }: Denial & { readonly evidence?: CallerIds }): CallerIds | undefined {
  if (!evidence) return undefined
  const { accountId, keyId, sessionId, policyRevision } = evidence
  return { accountId, keyId, sessionId, policyRevision }
}

function noteCaller(context: RequestContext, authentication: Authentication): void {
  const { credential, caller, headers, ids } = authentication
  context.authentication = authentication
  context.routeFields = headers
  context.decision.credential = credential
  if (ids) context.decision.ids = ids
  const { session } = (caller ?? {}) as Partial<AccessLike>
  if (credential === 'session' && session) context.session = session
}

/** A request that arrives within this time is not checked again, which would cost a query with `revocation: strict`. */
const RECHECK_AFTER_MS = 100

/**
 * Reads and checks the request. If that took long, checks the caller again. For an idempotent write, also starts the run or
 * finds the stored response.
 */
async function start<C extends OpenCall>(
  dependencies: RouteDependencies,
  context: RequestContext,
  incoming: IncomingRequest,
): Promise<StepResult<Run<C>>> {
  const { gate, operation, recording } = dependencies
  const { facts, authentication, authenticatedAtMs } = context
  if (!authentication)
    throw new TypeError(`${operation}: authorize must accept a request before it is started`)
  const respond = (outcome: Outcome, fields?: readonly HeaderField[]) =>
    ({ ok: false, response: conclude(gate, context, outcome, fields) }) as const
  const readJson = jsonReader(gate.aliases, operation, facts)
  const read = await readRequest(dependencies, context, incoming, readJson)
  if (!read.ok) return respond({ kind: 'denial', denial: read })
  // The client decides when its body ends. By a slow body it must not be able to use a session that has ended.
  const isLate = performance.now() - authenticatedAtMs >= RECHECK_AFTER_MS
  const rechecked = isLate ? await authentication.recheck?.() : undefined
  if (rechecked?.ok === false) return respond({ kind: 'denial', denial: rechecked })
  const { bytes: body, input } = read.value
  const { params, connection, replaceBody } = incoming
  const json: OpenCall['json'] = () => readJson(body) as ReturnType<OpenCall['json']>
  const signal = (): AbortSignal => connection.signal
  const call = { facts, body, input, params, json, signal, ...callerMembers(authentication) }
  if (!recording) return { ok: true, value: new Run(gate, context, call as unknown as C) }
  const isExisting = replaceBody !== undefined
  const guarded = call as unknown as GuardedCall<AccessLike>
  const started = await startRecord(recording, guarded, context.decision, isExisting)
  if ('record' in started) {
    return { ok: true, value: new Run(gate, context, started.call as C, started.record) }
  }
  if ('ok' in started) return respond({ kind: 'denial', denial: started })
  const { stored, fields } = started
  return isExisting
    ? replayAsWritten(gate, context, stored, fields)
    : respond(replayOutcome(stored, gate.settings.hasOwnRenderer), fields)
}

/** Reads and checks parameters and body. An existing handler gets the fields that the gate has checked or recorded. */
// Not `async`, to save a promise per request (npm run bench -- host).
function readRequest(
  dependencies: RouteDependencies,
  { facts }: RequestContext,
  incoming: IncomingRequest,
  readJson: ReturnType<typeof jsonReader>,
): ReturnType<typeof readInput> {
  const { gate, operation, schemas = {} } = dependencies
  const { params, readBody, replaceBody } = incoming
  const isRead = needsBody({ readsBody: readsBody(dependencies) }, facts, incoming)
  const source = { params, readBody: isRead ? async () => codingDenial(facts) ?? readBody() : noBody }
  const namesBefore = facts.oldNames.length
  const reading = readInput(schemas, source, facts, readJson)
  if (!replaceBody || !isRead || !hasOldFields(gate.aliases, operation)) return reading
  return reading.then(read => {
    if (!read.ok || !isJson(facts.header('content-type'))) return read
    const current = readJson(read.value.bytes)
    if (!current.ok) return current
    if (facts.oldNames.length > namesBefore) replaceBody(current.value)
    return read
  })
}

const NO_BODY = allow(new Uint8Array())
/** Returns an empty body, for requests whose body is absent or not needed. */
const noBody = async (): Promise<Verdict<Uint8Array>> => NO_BODY

/** Ends a request with the stored response of an existing handler, which is not rendered again. */
function replayAsWritten(
  gate: GateContext,
  context: RequestContext,
  stored: WireResponse,
  fields: readonly HeaderField[],
): StepResult<never> {
  const written = withoutMark(stored)
  const headers = [...fields, ...context.fields(), ...context.routeFields, ...written.headers]
  const response = { ...written, headers }
  concludeSent(gate, context, response)
  return { ok: false, response, replayed: true }
}

/** Returns the members of a call that describe its caller. If the caller is a session, `access` and `session` are among them. */
function callerMembers({ credential, caller }: Authentication): object {
  if (credential === undefined) return {}
  const session = (caller as Partial<AccessLike> | undefined)?.session
  return session ? { credential, caller, access: caller, session } : { credential, caller }
}

/**
 * Joins the header fields of the guard and of `admit`. `RateLimit` fields are lists (RFC 9651), so two with one name become
 * one.
 */
function joinRateLimits(
  fields: readonly HeaderField[],
  others: readonly HeaderField[],
): readonly HeaderField[] {
  const joined = fields.map(([name, value]): HeaderField => {
    const same = others.find(([other]) => other === name)
    return [name, same ? `${value}, ${same[1]}` : value]
  })
  return [...joined, ...others.filter(([name]) => !fields.some(([field]) => field === name))]
}
