import type { HandlerResponse, OpenCall } from '@gatewright/http'
import type { AuthenticatedRequest, DenialWithHeaders, KoaMiddleware } from '@gatewright/http/internal'
import { type HeaderField, allow, type Verdict, type Rule } from '@gatewright/kernel'
import { runOf, type CompleteRoute } from '@gatewright/http/internal/tools'
import { koaGate, type KoaGate } from '@gatewright/http/koa'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import { addressBucket } from '@gatewright/kernel/address'
import { bodySchema } from '../request/body.ts'
import { httpsRequired, type HostCredentials } from '../credentials/credentials.ts'
import { callOf, toHandlerResponse, withIgnored } from './host-call.ts'
import { createHostGate, type HostGate, type MountServices } from './host-gate.ts'
import { mountSigned } from './mount-signed.ts'
import { writeRoute, type WriteParts } from './mount-write.ts'
import {
  isCallersSpend,
  isPublicDocument,
  type CallerByCredential,
  type Operation,
  type PlainOperation,
} from '../operations/operation.ts'
import { querySchema } from '../request/query.ts'
import { targetDenial } from '../request/request-target.ts'

/** One gate, with each operation of the table, mounted. */
interface MountedGate {
  readonly koa: KoaGate
  readonly gate: HostGate
  readonly operations: readonly MountedOperation[]
}

/** An operation of the table, mounted. */
export interface MountedOperation {
  readonly operation: Operation
  readonly middleware: KoaMiddleware
  /** Its route with its handler; undefined for one whose messages are signed. */
  readonly route: CompleteRoute<OpenCall> | undefined
}

/** Creates the gate and mounts each row of the table as one of its routes. */
export function mount(table: readonly Operation[], services: MountServices): MountedGate {
  const api = createHostGate(table, services)
  const koa = koaGate(api, { body: 'stream' })
  const operations = table.map(operation => mountOperation(api, koa, operation, services))
  return { koa, gate: api, operations }
}

function mountOperation(
  api: HostGate,
  koa: KoaGate,
  operation: Operation,
  services: MountServices,
): MountedOperation {
  const options = {
    ...(operation.query ? { query: querySchema(operation.query) } : {}),
    ...(operation.method === 'GET' ? {} : { body: bodySchema(operation) }),
    admit: (entry: AuthenticatedRequest<AnyCaller>) => admit(operation, entry, services),
  }
  const { id, credential, surface, title } = operation
  if (surface === 'user' || !services.operationTitles.has(id)) services.operationTitles.set(id, title)
  const rule = ruleOf(operation)
  services.operationRules.set(`${surface} ${id}`, rule)
  if (!('write' in operation) && credential === 'provider') {
    const signed = mountSigned(koa, api.open(id, { admit: options.admit }), operation, services)
    return { operation, middleware: signed, route: undefined }
  }
  const route = completeRoute(api, operation, { rule, options, services })
  return { operation, middleware: koa.handle(route), route }
}

/** Declares an operation on the gate, with its handler. */
function completeRoute(api: HostGate, operation: Operation, parts: WriteParts): CompleteRoute<OpenCall> {
  const { id, credential } = operation
  const { rule, options } = parts
  if ('write' in operation) return writeRoute(api, operation, parts)
  if (credential === 'none' || credential === 'provider') {
    const route = api.open(id, options)
    return { ...route, run: runOf(route, call => handlePlain(operation, call, undefined)) }
  }
  const route = api.guardedBy(GATE_CREDENTIALS[credential], rule, options)
  return { ...route, run: runOf(route, call => handlePlain(operation, call, call.caller)) }
}

/** The credentials of the gate, by the credential that an operation names, in the order in which they are tried. */
const GATE_CREDENTIALS: Readonly<
  Record<
    Exclude<keyof CallerByCredential, 'none' | 'provider'>,
    readonly [keyof HostCredentials, ...(keyof HostCredentials)[]]
  >
> = {
  session: ['session'],
  'user-key': ['user-key'],
  'partner-key': ['partner-key'],
  'user-key-or-session': ['user-key', 'session-alone'],
  'session-or-web-token': ['web-token', 'session'],
  'user-key-web-token-or-session': ['user-key', 'web-token', 'session-alone'],
  'web-token': ['web-token'],
}

/** Returns what a session needs for an operation, in the words of the guard. */
export function ruleOf({ id, surface, scopes = [], anyOf, method, ...operation }: Operation): Rule<never> {
  return {
    operation: id,
    allOf: scopes as never[],
    ...(anyOf ? { anyOf: anyOf as never[] } : {}),
    ...(operation.cardSecrets ? { cardSecrets: true } : {}),
    ...(surface === 'public' ? {} : { surface }),
    ...(method === 'GET' ? {} : { limit: operation.limit === 'ending' ? 'ending' : 'write' }),
    ...('write' in operation && isCallersSpend(operation.spends) ? { spends: operation.spends } : {}),
  }
}

async function handlePlain(
  operation: PlainOperation,
  call: OpenCall,
  caller: unknown,
): Promise<HandlerResponse> {
  return withIgnored(operation, call, toHandlerResponse(await operation.handle(callOf(call, caller))))
}

type Limits = MountServices['limits']
type Limited = Promise<Verdict<readonly HeaderField[]>>
type AnyCaller = CallerByCredential[keyof CallerByCredential]

/** Counts a mint by key, and on the user surface by account: a partner's key mints for many accounts. */
async function admitMint(limits: Limits, caller: Access | ApiKey): Limited {
  const key = 'session' in caller ? undefined : caller
  const { accountId, surface } = 'session' in caller ? caller.session : caller
  // By lineage, so that a rotated key does not get a new bucket.
  const ofKey = await limits.mint('session' in caller ? caller.session.keyId : caller.lineageId)
  if (!ofKey.ok || surface === 'partner') return ofKey
  const ofAccount = await limits.mintOfAccount(
    `${key?.ancestry.length === 0 ? 'root' : 'below'} ${accountId}`,
  )
  return ofAccount.ok ? ofKey : ofAccount
}

/** Counts a request by the address of its client. `document`: for each operation apart. */
const BY_ADDRESS: Readonly<
  Partial<Record<NonNullable<Operation['limit']>, (limits: Limits, address: string, id: string) => Limited>>
> = {
  bootstrap: (limits, address) => limits.bootstrap(address),
  'token-check': (limits, address) => limits.tokenCheck(address),
  document: (limits, address, id) => limits.document(`${id} ${address}`),
}

const NOT_LIMITED = allow<readonly HeaderField[]>([])

/** Applies the rate limit that an operation names. A web token, which has no key to count by, is limited by address. */
async function applyLimit(
  { id, limit }: Operation,
  { facts: { address }, caller }: AuthenticatedRequest<AnyCaller>,
  limits: Limits,
): Limited {
  const byAddress = limit && BY_ADDRESS[limit]
  if (byAddress) return byAddress(limits, addressBucket(address), id)
  if (limit === 'mint' && caller && ('session' in caller || 'lineageId' in caller))
    return admitMint(limits, caller)
  if (caller && 'webSession' in caller) return limits.tokenCheck(addressBucket(address))
  return NOT_LIMITED
}

/** Applies the rate limits outside the guard, then checks the form of path and query parameters. */
async function admit(
  operation: Operation,
  request: AuthenticatedRequest<AnyCaller>,
  { limits, requireHttps }: MountServices,
): Promise<Verdict<readonly HeaderField[], DenialWithHeaders>> {
  const { facts, params } = request
  if (requireHttps && !facts.secure && !isPublicDocument(operation)) return httpsRequired
  const limited = await applyLimit(operation, request, limits)
  if (!limited.ok) return limited
  const denial = targetDenial(operation, params, facts.query)
  return denial ? { ...denial, headers: limited.value } : limited
}
