import { allow, type Denial, type Verdict } from '@gatewright/kernel'
import { addressClass, parseJsonObject, type HeaderField } from '@gatewright/http'
import { recordHeaders, type Answered, type TransactionalIdempotency } from '@gatewright/idempotency-store'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Aliases } from '@gatewright/legacy-alias-router'
import type { Spend, SpendStorage } from '@gatewright/scope-guard'
import { noted } from './aliases.ts'
import type { CanonicalFacts } from './exchange.ts'
import type { Call, Callers, Document, Effect, LedgerOperation, Operation, Success } from './operation.ts'
import { deny } from './codes.ts'
import { prover, type ProveServices } from './prove.ts'
import { targetFault } from './text.ts'
import { bodyCheck } from './validate.ts'

/** What performing an operation needs. */
export interface PerformServices extends ProveServices {
  readonly idempotency: TransactionalIdempotency
  readonly aliases: Aliases
  /** Refuse requests that did not come by HTTPS, those for the host's own documents aside. */
  readonly requireHttps: boolean
  /** Spend counters in the transaction of a financial write. */
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

/** A request with its raw body still to be read, and headers under their canonical names. */
export interface Incoming {
  readonly facts: CanonicalFacts
  readonly params: Readonly<Record<string, string>>
  readBody(): Promise<Verdict<Uint8Array>>
}

/** An operation's answer with the header fields it brings along. */
export interface Performed {
  readonly verdict: Verdict<Success | Document>
  readonly headers: readonly HeaderField[]
  /** Whose credential was proven. */
  readonly who?: Who
}

/** The ids behind a proven credential. */
export interface Who {
  readonly accountId: string
  readonly keyId: string
  readonly sessionId: string | undefined
}

const httpsRequired = deny('https_required', 'this API is served over HTTPS only')

/** Performs one operation on a request. */
export type Perform = (incoming: Incoming) => Promise<Performed>

/**
 * Compiles an operation's rule once. Order of a request: credential, scopes, limit and policy; then path and query are
 * checked; then the body is read and checked; then the handler, or for a financial write the idempotency record, the spend and
 * the rows in one transaction.
 */
export function compile(operation: Operation, services: PerformServices): Perform {
  const prove = prover(operation, services)
  const check = operation.body && bodyCheck(operation.body)

  const insecure = services.requireHttps && operation.surface !== 'public'

  return async incoming => {
    if (insecure && !incoming.facts.secure) return { verdict: httpsRequired, headers: [] }
    const caller = await prove(incoming.facts)
    if (!caller.ok) return { verdict: caller, headers: [] }
    const limited = await enter(operation, incoming.facts, caller.value, services)
    if (!limited.ok) return { verdict: limited, headers: [], ...whoIs(caller.value) }
    const headers = limited.value
    const known = { headers, ...whoIs(caller.value) }

    const fault = targetFault(operation, incoming.params, incoming.facts.query)
    if (fault) return { verdict: fault, ...known }
    const raw = operation.method === 'GET' ? allow(new Uint8Array()) : await incoming.readBody()
    if (!raw.ok) return { verdict: raw, ...known }
    const named = currentFields(operation, raw.value, incoming.facts, services)
    const body = named.ok && check ? check(named.value) : named
    if (!body.ok) return { verdict: body, ...known }

    const { facts, params } = incoming
    const call = { facts, params, caller: caller.value, body: body.value }
    if ('handle' in operation) return { verdict: await operation.handle(call), ...known }
    const written = await commit(operation, call as Call<'session', never>, raw.value, services)
    const fields = [...headers, ...written.headers]
    return { verdict: written.verdict, headers: fields, ...whoIs(caller.value) }
  }
}

/** Parses the body and translates its old field names. */
function currentFields(
  { id }: Operation,
  raw: Uint8Array,
  facts: CanonicalFacts,
  { aliases }: PerformServices,
): Verdict<Record<string, unknown>> {
  const parsed = parseJsonObject(raw, facts.header('content-type'))
  if (!parsed.ok) return parsed
  const read = noted(facts, aliases.readFields(id, parsed.value))
  return read.ok ? allow(read.value.body) : read
}

/** Joins `RateLimit` lists (structured-field lists) of two decisions. */
function joinLimits(one: readonly HeaderField[], other: readonly HeaderField[]): readonly HeaderField[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  return one.map(([name, value]) => {
    const more = other.find(([held]) => held === name)
    return [name, more ? `${value}, ${more[1]}` : value]
  })
}

/** The limits beside those of the guard; a guarded request brings its fields along. */
async function enter(
  { id, limit }: Operation,
  { address }: CanonicalFacts,
  caller: Callers[keyof Callers],
  { limits }: PerformServices,
): Promise<Verdict<readonly HeaderField[]>> {
  if (limit === 'bootstrap') return limits.bootstrap(addressClass(address))
  if (limit === 'document') return limits.document(`${id} ${addressClass(address)}`)
  if (caller === undefined) return allow([])
  // By lineage: a key that rotates itself gets no fresh bucket.
  const key = 'session' in caller ? caller.session.keyId : caller.lineageId
  const minted = limit === 'mint' ? await limits.mint(key) : allow([])
  if (!minted.ok || !('session' in caller)) return minted
  return allow(joinLimits(caller.headers, minted.value))
}

function whoIs(caller: Callers[keyof Callers]): { who?: Who } {
  if (caller === undefined) return {}
  if ('session' in caller) {
    const { accountId, keyId, sessionId } = caller.session
    return { who: { accountId, keyId, sessionId } }
  }
  return { who: { accountId: caller.accountId, keyId: caller.id, sessionId: undefined } }
}

/** Runs a financial write: its answer is stored with its rows, and a repeat gets the stored answer. */
async function commit(
  operation: LedgerOperation,
  call: Call<'session', never>,
  body: Uint8Array,
  services: PerformServices,
): Promise<Performed> {
  let refusal: Verdict<Success> | undefined
  let asked: unknown
  const ask = operation.ask?.bind(operation)
  const run = await services.idempotency.run(
    {
      account: call.caller.session.accountId,
      operation: operation.id,
      key: call.facts.header('idempotency-key'),
      method: operation.method,
      body,
    },
    async (tx, { effectId }) => {
      const reserved: Spend[] = []
      const reserve = reserving(operation, call.caller, services, { tx, effectId, reserved })
      const permits: Effect['permits'] = amount => services.guard.permits(call.caller, amount)
      const done = await operation.write(call, { tx, effectId, asked, reserve, permits })
      if (!done.ok) refusal = done
      const status = done.ok ? 200 : done.status
      return { status, headers: [], body: JSON.stringify(done.ok ? done.value : done), spends: reserved }
    },
    ask && (async () => void (asked = await ask(call))),
  )
  if (!run.ok) return { verdict: run, headers: [] }
  const blocked = await replayBlocked(run.value, call.caller, services)
  if (blocked) return { verdict: blocked, headers: [] }
  const { answer } = run.value
  const headers = recordHeaders(run.value)
  if (refusal && !run.value.replayed) return { verdict: refusal, headers }
  const stored = JSON.parse(answer.body) as Success | Exclude<Verdict<never>, { ok: true }>
  return { verdict: 'ok' in stored ? stored : allow(stored), headers }
}

/**
 * Why the caller may not have an earlier answer: the amount that its run reserved is over their limits on one operation.
 * Counters are not asked again, since that very write may have filled them.
 */
async function replayBlocked(
  { answer, replayed }: Answered,
  caller: Callers['session'],
  { guard }: PerformServices,
): Promise<Denial | undefined> {
  if (!replayed || !answer.spends) return undefined
  for (const spend of answer.spends) {
    const permitted = await guard.permits(caller, spend)
    if (!permitted.ok) return permitted
  }
  return undefined
}

/** The reservation of one write: once, under the effect's id, in the effect's transaction. */
function reserving(
  { id, spends }: LedgerOperation,
  caller: Callers['session'],
  { guard, spendStorage }: PerformServices,
  {
    tx,
    effectId,
    reserved,
  }: { readonly tx: SqlQueries; readonly effectId: string; readonly reserved: Spend[] },
): Effect['reserve'] {
  let done = false
  return async spend => {
    if (!spends || done) throw new TypeError(`${id} may not reserve ${done ? 'twice' : 'anything'}`)
    done = true
    const held = await guard.reserve(caller, { ...spend, holdId: effectId }, spendStorage(tx))
    if (held.ok) reserved.push(spend)
    return held
  }
}
