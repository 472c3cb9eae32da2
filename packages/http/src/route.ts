import { allow, type Denial, type HeaderField } from '@gatewright/kernel'
import { nobody, type Authenticate, type Proven } from './credentials.ts'
import { conclude, concludeAs, type Exchange, type Stage, type Works } from './exchange.ts'
import { jsonReader, readInput, type InputSchemas } from './input.ts'
import { asWritten, keptOutcome, type Outcome } from './outcome.ts'
import type { AccessLike, WireAnswer } from './parts.ts'
import { startRun, type Ending, type Recording, type Started } from './record.ts'
import type { Admitted, Authorised, GuardedCall, OpenCall, Route, RouteOptions, Source } from './stages.ts'

/** What the steps of a route work with. */
export interface RouteParts {
  readonly works: Works
  readonly authenticate?: Authenticate
  readonly admit?: RouteOptions['admit'] | undefined
  readonly schemas?: InputSchemas
  /** The record of an idempotent write. */
  readonly recording?: Recording
}

/**
 * Makes the steps of one operation, in the one right order: credential, limits of the route's own, parameters and body, then the
 * idempotency record. Each step that says no ends the request.
 */
export function makeRoute<C extends OpenCall>(operation: string, parts: RouteParts): Route<C> {
  const { works, authenticate = nobody, admit } = parts
  return {
    operation,
    idempotent: parts.recording !== undefined,

    async authorise(exchange, params) {
      const { facts, notes } = exchange
      const startedAt = performance.now()
      notes.operation = operation
      try {
        const proven = await authenticate(facts)
        notes.guardMs = performance.now() - startedAt
        if (!proven.ok) return refused(works, exchange, { kind: 'denial', denial: proven })
        const { credential, caller, headers, ids } = proven.value
        notes.credential = credential
        if (ids) notes.ids = ids
        const admitted = admit ? await admit({ facts, params, caller }) : allow([])
        notes.guardMs = performance.now() - startedAt
        if (!admitted.ok) return refused(works, exchange, { kind: 'denial', denial: admitted }, headers)
        const fields = joined(headers, admitted.value)
        return { ok: true, value: { exchange, proven: proven.value, fields } }
      } catch (error) {
        return refused(works, exchange, { kind: 'failure', error })
      }
    },

    async admit(authorised, source) {
      const { exchange, fields } = authorised
      try {
        const started = await start(operation, parts, authorised, source)
        if (!('refused' in started)) {
          return { ok: true, value: admittedOf<C>(works, authorised, started) }
        }
        const { refused: outcome, fields: more = [], written } = started
        if (written) {
          const answer = {
            ...written,
            headers: [...more, ...exchange.fields(), ...fields, ...written.headers],
          }
          concludeAs(works, exchange, answer)
          return { ok: false, answer }
        }
        return refused(works, exchange, outcome, [...more, ...fields])
      } catch (error) {
        return refused(works, exchange, { kind: 'failure', error }, fields)
      }
    },
  }
}

function refused(
  works: Works,
  exchange: Exchange,
  outcome: Outcome,
  fields?: readonly HeaderField[],
): Stage<never> {
  return { ok: false, answer: conclude(works, exchange, outcome, fields) }
}

/** An end without a handler: a refusal, or an earlier answer. */
interface Ended {
  readonly refused: Outcome
  readonly fields?: readonly HeaderField[]
  /** The earlier answer of a handler that answers by its framework. */
  readonly written?: WireAnswer
}

/** Reads and checks the request, and for an idempotent write begins its record. */
async function start(
  operation: string,
  { works, schemas = {}, recording }: RouteParts,
  { exchange, proven }: Authorised,
  source: Source,
): Promise<Started | Ended> {
  const { facts } = exchange
  const readJson = jsonReader(works.aliases, operation, facts)
  const read = await readInput(schemas, source, facts, readJson)
  if (!read.ok) return denied(read)
  const { bytes: body, input } = read.value
  const { params, connection } = source
  const json: OpenCall['json'] = () => readJson(body) as ReturnType<OpenCall['json']>
  const signal = (): AbortSignal => connection.signal
  const call = { facts, body, input, params, json, signal, ...membersOf(proven) }
  if (!recording) return { call, ending: NO_RECORD }
  const run = await startRun(recording, call as unknown as GuardedCall<AccessLike>, exchange.notes)
  if ('call' in run) return run
  if ('ok' in run) return denied(run)
  const { replayed, fields } = run
  const outcome = keptOutcome(replayed, works.settings.rendersValues)
  return source.written
    ? { refused: outcome, fields, written: asWritten(replayed) }
    : { refused: outcome, fields }
}

const denied = (denial: Denial): Ended => ({ refused: { kind: 'denial', denial } })

/** What a call has of its caller: of a session, `access` and `session` too. */
function membersOf({ credential, caller }: Proven): object {
  if (credential === undefined) return {}
  const session = (caller as Partial<AccessLike> | undefined)?.session
  return session ? { credential, caller, access: caller, session } : { credential, caller }
}

const NO_RECORD: Ending = {
  end: async outcome => ({ outcome, fields: [] }),
  settle: async () => ({ fields: [] }),
}

function admittedOf<C>(
  works: Works,
  { exchange, fields }: Authorised,
  { call, ending }: Started,
): Admitted<C> {
  const finish: Admitted<C>['finish'] = async (outcome, handlerMs = 0) => {
    exchange.notes.handlerMs = handlerMs
    const { outcome: sent, fields: more } = await ending.end(outcome)
    return conclude(works, exchange, sent, [...more, ...fields])
  }
  const settle: Admitted<C>['settle'] = async written => {
    const { instead, fields: more } = await ending.settle(written)
    if (instead) return conclude(works, exchange, instead, [...more, ...fields])
    const answer = { ...written, headers: [...more, ...written.headers] }
    concludeAs(works, exchange, answer)
    return answer
  }
  return {
    call: call as C,
    fields: [...exchange.fields(), ...fields],
    finish,
    settle,
    fail: error => finish({ kind: 'failure', error }),
    async lose(status) {
      await ending.settle({ status: 500, headers: [], body: '' })
      concludeAs(works, exchange, { status, headers: fields })
    },
    sent: status => concludeAs(works, exchange, { status, headers: fields }),
  }
}

/** Joins `RateLimit` lists (structured-field lists) of two decisions. */
function joined(one: readonly HeaderField[], other: readonly HeaderField[]): readonly HeaderField[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  const both = one.map(([name, value]): HeaderField => {
    const more = other.find(([held]) => held === name)
    return [name, more ? `${value}, ${more[1]}` : value]
  })
  return [...both, ...other.filter(([name]) => !one.some(([held]) => held === name))]
}
