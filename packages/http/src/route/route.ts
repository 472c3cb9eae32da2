import { allow, type Denial, type HeaderField } from '@gatewright/kernel'
import { isJson } from '../request/body.ts'
import { startRun, type RunDependencies, type RunEnding, type StartedRun } from '../idempotency/run.ts'
import type { AccessLike, CallerIds, WireResponse } from '../ports.ts'
import { hasOldFields, jsonReader, readInput, type InputSchemas } from '../request/input.ts'
import { withoutFields } from '../response/http-response.ts'
import { replayOutcome, withoutMark, type Outcome } from '../response/outcome.ts'
import { outcomeOfRead } from '../response/thrown-response.ts'
import { conclude, concludeSent } from './conclude.ts'
import { anonymous, type Authenticate, type Authentication } from './credentials.ts'
import { mountedTwice } from './guarding.ts'
import type { GuardedCall, OpenCall, RouteOptions } from '../handler-types.ts'
import type { GateContext, RequestContext } from './request-context.ts'
import type { StartedCall, AuthorizedRequest, RequestSource, Route, StepResult } from './steps.ts'

/** What the steps of a route need. */
export interface RouteDependencies {
  readonly gate: GateContext
  readonly authenticate?: Authenticate
  readonly admit?: RouteOptions['admit'] | undefined
  readonly schemas?: InputSchemas
  /** The idempotency record of the operation, if it is idempotent. */
  readonly recording?: RunDependencies
}

/**
 * Makes the steps of one operation in their fixed order: credential, the `admit` option of the route, parameters and body,
 * idempotency record. The first step that denies ends the request.
 */
export function makeRoute<C extends OpenCall>(operation: string, dependencies: RouteDependencies): Route<C> {
  const { gate, authenticate = anonymous, admit } = dependencies
  return {
    operation,
    idempotent: dependencies.recording !== undefined,
    readsBody: readsBody(dependencies),
    renamesFields: gate.aliases?.renamesFields?.(operation) === true,

    async authorize(context, params) {
      const { facts, decision } = context
      const startedAt = performance.now()
      // A server may handle the same request object again, as a retry does.
      const isMountedTwice = decision.operation === operation && !decision.emitted
      decision.operation = operation
      try {
        if (isMountedTwice) throw mountedTwice(operation)
        const authenticated = await authenticate(facts)
        const checkedAtMs = performance.now()
        decision.guardMs = checkedAtMs - startedAt
        if (!authenticated.ok) {
          decision.ids = deniedIds(authenticated) ?? decision.ids
          return concludeEarly(gate, context, { kind: 'denial', denial: authenticated })
        }
        const { credential, caller, headers, ids } = authenticated.value
        decision.credential = credential
        if (ids) decision.ids = ids
        const { session } = (caller ?? {}) as Partial<AccessLike>
        if (credential === 'session' && session) context.session = session
        const admitted = admit ? await admit({ facts, params, caller }) : allow([])
        decision.guardMs = performance.now() - startedAt
        if (!admitted.ok) return concludeEarly(gate, context, { kind: 'denial', denial: admitted }, headers)
        const fields = joinRateLimits(headers, admitted.value)
        return { ok: true, value: { context, authentication: authenticated.value, checkedAtMs, fields } }
      } catch (error) {
        return concludeEarly(gate, context, { kind: 'failure', error })
      }
    },

    async startCall(authorized, source) {
      const { context, fields } = authorized
      try {
        const started = await start(operation, dependencies, authorized, source)
        if (!('outcome' in started)) {
          return { ok: true, value: startedCall<C>(gate, authorized, started) }
        }
        const { outcome, fields: recordFields = [], captured } = started
        if (!captured) return concludeEarly(gate, context, outcome, [...recordFields, ...fields])
        const headers = [...recordFields, ...context.fields(), ...fields, ...captured.headers]
        const response = { ...captured, headers }
        concludeSent(gate, context, response)
        return { ok: false, response, replayed: true }
      } catch (error) {
        return concludeEarly(gate, context, { kind: 'failure', error }, fields)
      }
    },
  }
}

/** Returns the ids of a caller who was verified and then denied: a guard gives them with its denial. */
function deniedIds({ evidence }: Denial & { readonly evidence?: CallerIds }): CallerIds | undefined {
  if (!evidence) return undefined
  const { accountId, keyId, sessionId, policyRevision } = evidence
  return { accountId, keyId, sessionId, policyRevision }
}

/** Whether the body is recorded or checked. */
const readsBody = ({ recording, schemas }: RouteDependencies): boolean =>
  recording !== undefined || schemas?.body !== undefined

/** Ends a request before its handler: renders a denial, a failure or a replay. */
function concludeEarly(
  gate: GateContext,
  context: RequestContext,
  outcome: Outcome,
  fields?: readonly HeaderField[],
): StepResult<never> {
  return { ok: false, response: conclude(gate, context, outcome, fields) }
}

/** The outcome of a request whose handler does not run: a denial or a replay. */
interface EarlyOutcome {
  readonly outcome: Outcome
  readonly fields?: readonly HeaderField[]
  /** The stored response, if the handler writes its responses through its framework. It is sent without being rendered again. */
  readonly captured?: WireResponse
}

/** A request that arrives within this time is not checked again, which would cost a query with `revocation: strict`. */
const RECHECK_AFTER_MS = 100

/**
 * Reads and checks the request. If that took long, checks the caller again. For an idempotent write, also starts the run or
 * finds the stored response.
 */
async function start(
  operation: string,
  dependencies: RouteDependencies,
  { context, authentication, checkedAtMs }: AuthorizedRequest,
  source: RequestSource,
): Promise<StartedRun | EarlyOutcome> {
  const { gate, schemas = {}, recording } = dependencies
  const { facts } = context
  const readJson = jsonReader(gate.aliases, operation, facts)
  const namesBefore = facts.oldNames.length
  const read = await readInput(schemas, source, facts, readJson)
  if (!read.ok) return denied(read)
  // An existing handler must get the fields that the gate checked or recorded.
  const mayReplace = source.captured && readsBody(dependencies)
  if (mayReplace && hasOldFields(gate.aliases, operation) && isJson(facts.header('content-type'))) {
    const current = readJson(read.value.bytes)
    if (!current.ok) return denied(current)
    if (facts.oldNames.length > namesBefore) source.replaceBody?.(current.value)
  }
  // The client decides when its body ends. By a slow body it must not be able to use a session that has ended.
  const isLate = performance.now() - checkedAtMs >= RECHECK_AFTER_MS
  const rechecked = isLate ? await authentication.recheck?.() : undefined
  if (rechecked?.ok === false) return denied(rechecked)
  const { bytes: body, input } = read.value
  const { params, connection } = source
  const json: OpenCall['json'] = () => readJson(body) as ReturnType<OpenCall['json']>
  const signal = (): AbortSignal => connection.signal
  const call = { facts, body, input, params, json, signal, ...callerMembers(authentication) }
  if (!recording) return { call, ending: NO_RECORD }
  const run = await startRun(
    recording,
    call as unknown as GuardedCall<AccessLike>,
    context.decision,
    source.captured,
  )
  if ('call' in run) return run
  if ('ok' in run) return denied(run)
  const { stored, fields } = run
  const outcome = replayOutcome(stored, gate.settings.hasOwnRenderer)
  return source.captured ? { outcome, fields, captured: withoutMark(stored) } : { outcome, fields }
}

const denied = (denial: Denial): EarlyOutcome => ({ outcome: { kind: 'denial', denial } })

/** Returns the members of a call that describe its caller. If the caller is a session, `access` and `session` are among them. */
function callerMembers({ credential, caller }: Authentication): object {
  if (credential === undefined) return {}
  const session = (caller as Partial<AccessLike> | undefined)?.session
  return session ? { credential, caller, access: caller, session } : { credential, caller }
}

/** Ends the run of an operation without an idempotency record: stores nothing. */
const NO_RECORD: RunEnding = {
  finish: async outcome => ({ outcome: outcomeOfRead(outcome), fields: [] }),
  finishCaptured: async () => ({ fields: [] }),
  finishFailed: async () => {},
  leaveUnknown: async () => {},
  isNoEffect: () => false,
}

function startedCall<C>(
  gate: GateContext,
  { context, fields }: AuthorizedRequest,
  { call, ending }: StartedRun,
): StartedCall<C> {
  const finish: StartedCall<C>['finish'] = async (outcome, handlerMs = 0) => {
    context.decision.handlerMs = handlerMs
    const { outcome: final, fields: recordFields } = await ending.finish(outcome)
    return conclude(gate, context, final, [...recordFields, ...fields])
  }
  const finishCaptured: StartedCall<C>['finishCaptured'] = async captured => {
    // The gate's header fields are not stored with the response: each retry gets its own.
    const headers = withoutFields(captured.headers, [...context.fields(), ...fields])
    const { instead, fields: recordFields } = await ending.finishCaptured({ ...captured, headers })
    if (instead) return conclude(gate, context, instead, [...recordFields, ...fields])
    const response = { ...captured, headers: [...recordFields, ...captured.headers] }
    concludeSent(gate, context, response)
    return response
  }
  return {
    call: call as C,
    decision: context.decision,
    fields: [...context.fields(), ...fields],
    finish,
    finishCaptured,
    fail: error => finish({ kind: 'failure', error }),
    async failed(failure) {
      await ending.finishFailed(failure)
      concludeSent(gate, context, { status: failure.status, headers: fields })
    },
    async leaveUnknown(status) {
      await ending.leaveUnknown(status)
      concludeSent(gate, context, { status, headers: fields })
    },
    isNoEffect: ending.isNoEffect,
    sent: status => concludeSent(gate, context, { status, headers: fields }),
  }
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
