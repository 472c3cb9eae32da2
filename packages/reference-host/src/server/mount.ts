import {
  gate,
  type AuthenticatedRequest,
  type HandlerAnswer,
  type HeaderField,
  type Observe,
  type DenialWithHeaders,
} from '@gatewright/http'
import { koaGate, type KoaGate, type KoaMiddleware } from '@gatewright/http/koa'
import { allow, type Rule, type Verdict } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { TransactionalIdempotency } from '@gatewright/idempotency-store'
import type { SpendStorage } from '@gatewright/scope-guard'
import { allScopes } from '../product/scopes.ts'
import { bodySchema } from './body.ts'
import {
  hostCredentials,
  httpsRequired,
  type CredentialServices,
  type HostCredentials,
} from './credentials.ts'
import type {
  Call,
  Callers,
  Document,
  LedgerOperation,
  Operation,
  PlainOperation,
  Success,
} from './operation.ts'
import { renderer, type RenderServices } from './render.ts'
import { targetFault } from './target.ts'

/** What the host's gate is made of. */
export interface MountServices extends CredentialServices, RenderServices {
  readonly idempotency: TransactionalIdempotency
  /** Spend counters in the transaction of a financial write. */
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
  readonly observe: Observe
  /** CIDRs of proxies whose word about client address and scheme counts. */
  readonly trustProxy: readonly string[]
}

/** The operations of a table, each as a Koa middleware, on one gate. */
export interface Mounted {
  readonly koa: KoaGate
  readonly operations: readonly (readonly [operation: Operation, middleware: KoaMiddleware])[]
  /** See `OpenGate.drain`. */
  drain(): void
}

type HostGate = ReturnType<typeof hostGate>

function hostGate(table: readonly Operation[], services: MountServices) {
  const { guard, aliases, idempotency, spendStorage, observe, trustProxy } = services
  return gate({
    ...{ aliases, guard, scopes: allScopes, credentials: hostCredentials(services) },
    ...{ transactions: idempotency, spendStorage, observe, trustProxy },
    render: renderer(table, services),
    // The decision event has the failure.
    report: () => {},
  })
}

/** Mounts every row of the table as one route of a gate. */
export function mount(table: readonly Operation[], services: MountServices): Mounted {
  const api = hostGate(table, services)
  const koa = koaGate(api, { body: 'stream' })
  const operations = table.map(operation => [operation, mounted(api, koa, operation, services)] as const)
  return { koa, operations, drain: () => api.drain() }
}

function mounted(api: HostGate, koa: KoaGate, operation: Operation, services: MountServices): KoaMiddleware {
  const options = {
    ...(operation.method === 'GET' ? {} : { body: bodySchema(operation.body) }),
    admit: (entry: AuthenticatedRequest<Callers[keyof Callers]>) => admit(operation, entry, services),
  }
  const { id, credential } = operation
  const rule = ruleOf(operation)
  if ('write' in operation) return koa.handle(written(api, operation, options))
  if (credential === 'none') {
    const route = api.open(id, options)
    return koa.handle(route, call => handled(operation, call, undefined))
  }
  const route = api.guardedBy(NAMES[credential], rule, options)
  return koa.handle(route, call => handled(operation, call, call.caller))
}

/** The credentials of the gate behind each that an operation can name, in their order. */
const NAMES: Readonly<
  Record<Exclude<keyof Callers, 'none'>, readonly [keyof HostCredentials, ...(keyof HostCredentials)[]]>
> = {
  session: ['session'],
  'user-key': ['user-key'],
  'partner-key': ['partner-key'],
  'user-key-or-session': ['user-key', 'session-alone'],
}

function ruleOf({ id, surface, scopes = [], method, ...operation }: Operation): Rule<never> {
  return {
    operation: id,
    allOf: scopes as never[],
    ...(surface === 'public' ? {} : { surface }),
    ...(method === 'GET' ? {} : { limit: 'write' }),
    ...('write' in operation && operation.spends ? { spends: 'spend' } : {}),
  }
}

/** A request as an operation's own types see it; they were checked when it was declared. */
interface GateCall extends Omit<Call<never, never>, 'caller' | 'body'> {
  readonly input: { readonly body: unknown }
}

function callOf({ facts, params, input }: GateCall, caller: unknown): Call<never, never> {
  return { facts, params, caller: caller as never, body: input.body as never }
}

async function handled(operation: PlainOperation, call: GateCall, caller: unknown): Promise<HandlerAnswer> {
  return answerOf(await operation.handle(callOf(call, caller)))
}

/** A financial write: its rows, its spend and its answer commit together. */
function written(api: HostGate, operation: LedgerOperation, options: object) {
  const ask = operation.ask?.bind(operation)
  return api.transactional(
    ruleOf(operation),
    async (call, { tx, effectId, prepared, reserve, permits }) => {
      const effect = { tx, effectId, asked: prepared, reserve, permits } as Parameters<
        LedgerOperation['write']
      >[1]
      return answerOf(await operation.write(callOf(call, call.access), effect))
    },
    {
      ...options,
      ...(ask ? { prepare: async call => allow(await ask(callOf(call, call.access))) } : {}),
    },
  )
}

/** What is kept for a replay: the answer before it is put into the envelope. */
function answerOf(verdict: Verdict<Success | Document>): HandlerAnswer {
  if (!verdict.ok) return verdict
  const { value } = verdict
  if (!('document' in value)) return { status: 200, body: value }
  return { status: value.status ?? 200, headers: value.headers, body: value.document }
}

/** The limits beside those of the guard, then path and query. */
async function admit(
  operation: Operation,
  { facts, params, caller }: AuthenticatedRequest<Callers[keyof Callers]>,
  { limits, requireHttps }: MountServices,
): Promise<Verdict<readonly HeaderField[], DenialWithHeaders>> {
  const { id, limit, surface } = operation
  if (requireHttps && !facts.secure && surface !== 'public') return httpsRequired
  let limited: Verdict<readonly HeaderField[]> = allow([])
  if (limit === 'bootstrap') limited = await limits.bootstrap(addressBucket(facts.address))
  else if (limit === 'document') limited = await limits.document(`${id} ${addressBucket(facts.address)}`)
  // By lineage: a key that rotates itself gets no fresh bucket.
  else if (limit === 'mint' && caller)
    limited = await limits.mint('session' in caller ? caller.session.keyId : caller.lineageId)
  if (!limited.ok) return limited
  const fault = targetFault(operation, params, facts.query)
  return fault ? { ...fault, headers: limited.value } : limited
}
