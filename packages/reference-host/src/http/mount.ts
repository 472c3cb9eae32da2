import { randomUUID } from 'node:crypto'
import {
  gate,
  type Entry,
  type GuardedCall,
  type GuardedRule,
  type HandlerAnswer,
  type HeaderField,
  type Observe,
  type Refusal,
} from '@gatewright/http'
import { koaGate, type KoaGate, type KoaMiddleware } from '@gatewright/http/koa'
import type { TransactionalIdempotency } from '@gatewright/idempotency-store'
import { allow, type Denial, type Verdict } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { withinTransactionScope, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { Access, SpendStorage } from '@gatewright/scope-guard'
import { allScopes } from '../product/scopes.ts'
import { bodySchema } from './body.ts'
import {
  hostCredentials,
  httpsRequired,
  type CredentialServices,
  type HostCredentials,
} from './credentials.ts'
import type { Gates } from './gates.ts'
import type {
  Call,
  CallerByCredential,
  Document,
  LedgerOperation,
  Operation,
  PlainOperation,
  Success,
  WriteContext,
} from './operation.ts'
import { renderer, type RenderServices } from './render.ts'
import { targetDenial } from './request-target.ts'

/** What the host's gate needs. */
export interface MountServices extends CredentialServices, RenderServices {
  readonly idempotency: TransactionalIdempotency
  /** For writes without an idempotency key. */
  readonly db: SqlClient
  readonly gates: Gates
  /** Spend counters inside the transaction of a financial write. */
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
  readonly observe: Observe
  /** CIDRs of proxies whose statements about client address and scheme are trusted. */
  readonly trustProxy: readonly string[]
}

/** One gate, with each operation of the table as a Koa middleware. */
interface Mounted {
  readonly koa: KoaGate
  readonly operations: readonly (readonly [operation: Operation, middleware: KoaMiddleware])[]
  /** See `OpenGate.drain`. */
  drain(): void
}

type HostGate = ReturnType<typeof createHostGate>

function createHostGate(table: readonly Operation[], services: MountServices) {
  const { guard, aliases, idempotency, spendStorage, observe, trustProxy } = services
  return gate({
    ...{ aliases, guard, scopes: allScopes, credentials: hostCredentials(services) },
    ...{ transactions: idempotency, spendStorage, observe, trustProxy },
    render: renderer(table, services),
    // The decision event carries the failure.
    report: () => {},
  })
}

/** Creates the gate and mounts each row of the table as one of its routes. */
export function mount(table: readonly Operation[], services: MountServices): Mounted {
  const api = createHostGate(table, services)
  const koa = koaGate(api, { body: 'stream' })
  const operations = table.map(
    operation => [operation, createMiddleware(api, koa, operation, services)] as const,
  )
  return { koa, operations, drain: () => api.drain() }
}

function createMiddleware(
  api: HostGate,
  koa: KoaGate,
  operation: Operation,
  services: MountServices,
): KoaMiddleware {
  const options = {
    ...(operation.method === 'GET' ? {} : { body: bodySchema(operation.body) }),
    admit: (entry: Entry<CallerByCredential[keyof CallerByCredential]>) => admit(operation, entry, services),
  }
  const { id, credential } = operation
  const rule = ruleOf(operation)
  if ('write' in operation) return writeMiddleware(api, koa, operation, { options, services })
  if (credential === 'none') {
    const route = api.open(id, options)
    return koa.handle(route, call => handlePlain(operation, call, undefined))
  }
  const route = api.guardedBy(GATE_CREDENTIALS[credential], rule, options)
  return koa.handle(route, call => handlePlain(operation, call, call.caller))
}

/**
 * The gate's credentials for each credential that an operation can name, in the order in which they are
 * tried.
 */
const GATE_CREDENTIALS: Readonly<
  Record<
    Exclude<keyof CallerByCredential, 'none'>,
    readonly [keyof HostCredentials, ...(keyof HostCredentials)[]]
  >
> = {
  session: ['session'],
  'user-key': ['user-key'],
  'partner-key': ['partner-key'],
  'user-key-or-session': ['user-key', 'session-alone'],
}

function ruleOf({ id, surface, scopes = [], anyOf, method, ...operation }: Operation): GuardedRule<never> {
  return {
    operation: id,
    allOf: scopes as never[],
    ...(anyOf ? { anyOf: anyOf as never[] } : {}),
    ...(operation.cardSecrets ? { cardSecrets: true } : {}),
    ...(surface === 'public' ? {} : { surface }),
    ...(method === 'GET' ? {} : { limit: 'write' }),
    ...('write' in operation && operation.spends ? { spends: 'spend' } : {}),
  }
}

/** A request without the operation's own types, which were checked when it was declared. */
interface GateCall extends Omit<Call<never, never>, 'caller' | 'body'> {
  readonly input: { readonly body: unknown }
}

function callOf({ facts, params, input }: GateCall, caller: unknown): Call<never, never> {
  return { facts, params, caller: caller as never, body: input.body as never }
}

async function handlePlain(
  operation: PlainOperation,
  call: GateCall,
  caller: unknown,
): Promise<HandlerAnswer> {
  return toHandlerAnswer(await operation.handle(callOf(call, caller)))
}

/** What mounts a write beside its declaration. */
interface WriteParts {
  readonly options: object
  readonly services: MountServices
}

/** Mounts a write with an idempotency key, without one, or with either, as its declaration says. */
function writeMiddleware(
  api: HostGate,
  koa: KoaGate,
  operation: LedgerOperation,
  parts: WriteParts,
): KoaMiddleware {
  const { idempotency = 'required' } = operation
  const keyed = koa.handle(transactionalRoute(api, operation, parts))
  if (idempotency === 'required') return keyed
  const route = api.guardedBy(GATE_CREDENTIALS.session, ruleOf(operation), parts.options)
  const plain = koa.handle(route, call => writeOnce(operation, call, call.caller as Access, parts.services))
  if (idempotency === 'none') return plain
  return (ctx, next) => (ctx.req.headers['idempotency-key'] === undefined ? plain : keyed)(ctx, next)
}

/** Mounts a write with an idempotency key: its rows, its spend and its answer commit together. */
function transactionalRoute(
  api: HostGate,
  operation: LedgerOperation,
  { options, services: { db, gates } }: WriteParts,
) {
  const prepare = operation.prepare?.bind(operation)
  const passes = gateCheck(operation, gates)
  return api.transactional(
    ruleOf(operation),
    async (call, context) => {
      // Decided in the transaction. The refusal is not stored, so that the same key works once the account may write.
      const passed = await passes(context.tx, call.session)
      if (!passed.ok) return context.abandon(passed)
      return toHandlerAnswer(await operation.write(callOf(call, call.access), context as WriteContext))
    },
    {
      ...options,
      ...(prepare || operation.gated
        ? {
            async prepare(call: GuardedCall<Access>) {
              const passed = await passes(db, call.session)
              return passed.ok ? allow(await prepare?.(callOf(call as never, call.access))) : passed
            },
          }
        : {}),
    },
  )
}

function gateCheck({ gated }: LedgerOperation, gates: Gates): Gates['check'] {
  return gated ? (db, session) => gates.check(db, session) : async () => allow(undefined)
}

/** Carries a denial out of the transaction that it rolls back. */
class Denied extends Error {
  readonly denial: Denial
  constructor(denial: Denial) {
    super('denied')
    this.denial = denial
  }
}

/** Runs a write without an idempotency key: its rows commit together, and a denial commits none. */
async function writeOnce(
  operation: LedgerOperation,
  call: GateCall,
  access: Access,
  { db, gates }: MountServices,
): Promise<HandlerAnswer> {
  const passes = gateCheck(operation, gates)
  const noSpend = async (): Promise<never> => {
    throw new TypeError(`${operation.id} may not reserve: it requires no idempotency key`)
  }
  const passed = await passes(db, access.session)
  if (!passed.ok) return passed
  const prepared = (await operation.prepare?.(callOf(call, access))) as never
  const effectId = randomUUID().replaceAll('-', '')
  try {
    return await db.transaction(async tx => {
      const stillPasses = await passes(tx, access.session)
      if (!stillPasses.ok) throw new Denied(stillPasses)
      const context = { tx, effectId, prepared, reserve: noSpend, permits: noSpend }
      const verdict = await withinTransactionScope(db, () => operation.write(callOf(call, access), context))
      if (!verdict.ok) throw new Denied(verdict)
      return toHandlerAnswer(verdict)
    })
  } catch (error) {
    if (error instanceof Denied) return error.denial
    throw error
  }
}

/** The answer as it is stored for replays: before the envelope. */
function toHandlerAnswer(verdict: Verdict<Success | Document>): HandlerAnswer {
  if (!verdict.ok) return verdict
  const { value } = verdict
  if (!('document' in value)) return { status: 200, body: value }
  return { status: value.status ?? 200, headers: value.headers, body: value.document }
}

/** Takes the rate limits beside those of the guard, then checks path and query parameters. */
async function admit(
  operation: Operation,
  { facts, params, caller }: Entry<CallerByCredential[keyof CallerByCredential]>,
  { limits, requireHttps }: MountServices,
): Promise<Verdict<readonly HeaderField[], Refusal>> {
  const { id, limit, surface } = operation
  if (requireHttps && !facts.secure && surface !== 'public') return httpsRequired
  let limited: Verdict<readonly HeaderField[]> = allow([])
  if (limit === 'bootstrap') limited = await limits.bootstrap(addressBucket(facts.address))
  else if (limit === 'document') limited = await limits.document(`${id} ${addressBucket(facts.address)}`)
  // By lineage, so that a rotated key does not get a fresh bucket.
  else if (limit === 'mint' && caller)
    limited = await limits.mint('session' in caller ? caller.session.keyId : caller.lineageId)
  if (!limited.ok) return limited
  const fault = targetDenial(operation, params, facts.query)
  return fault ? { ...fault, headers: limited.value } : limited
}
