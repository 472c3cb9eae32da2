import { allow, type Verdict } from '@gatewright/kernel'
import { parseJsonObject, type HeaderField } from '@gatewright/http'
import type { RequestFacts } from '@gatewright/http/koa'
import type { TransactionalIdempotency } from '@gatewright/idempotency-store'
import type { Access, Guard, Rule } from '@gatewright/scope-guard'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import type { Call, Callers, Document, LedgerOperation, Operation, Success } from './operation.ts'
import { bodyCheck } from './validate.ts'

/** What performing an operation needs. */
export interface PerformServices {
  readonly guard: Guard
  readonly issuer: Issuer
  readonly idempotency: TransactionalIdempotency
}

/** A request with its raw body still to be read, and headers under their canonical names. */
export interface Incoming {
  readonly facts: RequestFacts
  readonly params: Readonly<Record<string, string>>
  readBody(): Promise<Verdict<Uint8Array>>
}

/** An operation's answer with the header fields it brings along. */
export interface Performed {
  readonly verdict: Verdict<Success | Document>
  readonly headers: readonly HeaderField[]
}

/** Performs one operation on a request. */
export type Perform = (incoming: Incoming) => Promise<Performed>

/**
 * Compiles an operation's rule once. Order of a request: credential, scopes, limit and policy; then the body is read
 * and checked; then the handler, or for a financial write the idempotency record, the spend and the rows in one transaction.
 */
export function compile(operation: Operation, services: PerformServices): Perform {
  const prove = prover(operation, services)
  const check = operation.body && bodyCheck(operation.body)

  return async incoming => {
    const caller = await prove(incoming.facts)
    if (!caller.ok) return { verdict: caller, headers: [] }
    const headers = operation.credential === 'session' ? (caller.value as Access).headers : []

    const raw = operation.method === 'GET' ? allow(new Uint8Array()) : await incoming.readBody()
    if (!raw.ok) return { verdict: raw, headers }
    const parsed = parseJsonObject(raw.value, incoming.facts.header('content-type'))
    const body = parsed.ok && check ? check(parsed.value) : parsed
    if (!body.ok) return { verdict: body, headers }

    const call = { facts: incoming.facts, params: incoming.params, caller: caller.value, body: body.value }
    if ('handle' in operation) return { verdict: await operation.handle(call), headers }
    const written = await commit(operation, call as Call<'session', never>, raw.value, services)
    return { verdict: written.verdict, headers: [...headers, ...written.headers] }
  }
}

/** Proves the credential that the operation names; no other is looked at. */
function prover(
  operation: Operation,
  { guard, issuer }: PerformServices,
): (facts: RequestFacts) => Promise<Verdict<Callers[keyof Callers]>> {
  const { id, surface, credential, scopes } = operation
  if (credential === 'none') return async () => allow(undefined)
  if (credential === 'session') {
    const rule: Rule = {
      operation: id,
      ...(surface === 'public' ? {} : { surface }),
      ...(scopes ? { allOf: scopes } : {}),
      ...('write' in operation ? { spends: 'spend' } : {}),
    }
    guard.prepare(rule)
    return facts =>
      guard.check({ authorization: facts.header('authorization'), address: facts.address }, rule)
  }
  const side = credential === 'user-key' ? 'user' : 'partner'
  return async (facts): Promise<Verdict<ApiKey>> =>
    issuer.authenticateKey(facts.header(`x-${side}-key`), side)
}

/** Runs a financial write: its answer is stored with its rows, and a repeat gets the stored answer. */
async function commit(
  operation: LedgerOperation,
  call: Call<'session', never>,
  body: Uint8Array,
  { guard, idempotency }: PerformServices,
): Promise<Performed> {
  const { caller } = call
  let refusal: Verdict<Success> | undefined
  const run = await idempotency.run(
    {
      account: caller.session.accountId,
      operation: operation.id,
      key: call.facts.header('idempotency-key'),
      method: operation.method,
      body,
    },
    async (tx, { effectId }) => {
      const done = await spendAndWrite()
      if (!done.ok) refusal = done
      const status = done.ok ? 200 : done.status
      return { status, headers: [], body: JSON.stringify(done.ok ? done.value : done) }

      async function spendAndWrite(): Promise<Verdict<Success>> {
        const spend = operation.spends(call)
        if (!spend.ok) return spend
        const allowed = await guard.reserve(caller, spend.value)
        return allowed.ok ? operation.write(call, { tx, effectId, spend: spend.value }) : allowed
      }
    },
  )
  if (!run.ok) return { verdict: run, headers: [] }
  const { answer, replayed } = run.value
  const headers: HeaderField[] = replayed ? [['Idempotency-Replayed', 'true']] : []
  if (refusal) return { verdict: refusal, headers }
  const stored = JSON.parse(answer.body) as Success | Exclude<Verdict<never>, { ok: true }>
  return { verdict: 'ok' in stored ? stored : allow(stored), headers }
}
