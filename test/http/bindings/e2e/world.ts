import { Readable } from 'node:stream'
import { Fault, scopeCatalogue, nothingHappened } from '@gatewright/kernel'
import {
  gate,
  type Decision,
  type Handler,
  type IdempotentCall,
  type OpenCall,
  type Gate,
} from '@gatewright/http'
import type { GuardedCall, Route } from '@gatewright/http/internal'
import type { Failure } from '#packages/http/dist/options.js'
import type { SpendingCall } from '#packages/http/dist/handler-types.js'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
import type { Access, SpendHold } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { bench, type Bench } from '../../../scope-guard/issuer.ts'

export const BODY_LIMIT_BYTES = 2048
const reply = 1024
/** Requests that one API key may make. */
export const POINTS = 12

const scopes = scopeCatalogue(['cards.read', 'cards.write', 'cards.secrets.read'])
type Scope = (typeof scopes.names)[number]

/** What a server mounts, the same for every framework, and what a test can see of it. */
export interface World {
  readonly gate: Gate<Scope, Access, SpendHold>
  readonly bearer: Bench['bearer']
  readonly clock: Bench['clock']
  readonly failures: Failure[]
  /** The decision event of each request, in order. */
  readonly decisions: Decision[]
  /** Effects that handlers made, by effect id. */
  readonly effects: string[]
  /** While set, handlers wait for it after their effect. */
  hold: Promise<void> | undefined
  /** The signal of the last write's call. */
  signal: AbortSignal | undefined
  readonly routes: Routes
}

interface Routes {
  readonly plans: MountedRoute<OpenCall>
  readonly whoami: MountedRoute<OpenCall>
  readonly fault: MountedRoute<OpenCall>
  readonly boom: MountedRoute<OpenCall>
  readonly listCards: MountedRoute<GuardedCall<Access>>
  readonly revealCard: MountedRoute<GuardedCall<Access>>
  readonly createCard: MountedRoute<IdempotentCall<Access>>
  readonly pay: MountedRoute<SpendingCall<Access, SpendHold>>
}

/** An operation with its place and a handler that returns its response. */
export interface MountedRoute<C extends OpenCall> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly route: Route<C>
  readonly handler: Handler<C>
}

const mounted = <C extends OpenCall>(
  method: 'GET' | 'POST',
  path: string,
  route: Route<C>,
  handler: Handler<C>,
): MountedRoute<C> => ({ method, path, route, handler })

/** Existing handlers, whose responses are captured: `[path, operation, what it does]`. */
export const existing = [
  ['/user/v1/orders', 'orders.create', 'json'],
  ['/user/v1/reports', 'reports.create', 'large'],
  ['/user/v1/exports', 'exports.create', 'stream'],
] as const

/** Policies of sessions, by id. */
const POLICIES: Record<string, object> = { ten: { dailySpendCapCents: 10 }, one: { maxAuthAmountCents: 1 } }

/** An existing handler that reserves. */
export const TRANSFERS = '/user/v1/transfers'

/** Reserves what the body asks for, and ends as it says. */
export async function paying({ json, reserve }: SpendingCall<Access, SpendHold>): Promise<{
  readonly status: number
  readonly body: Record<string, unknown>
}> {
  const asked = json()
  const { amountCents, ending } = asked.ok ? asked.value : {}
  if (ending === 'unreserved') return { status: 201, body: { paid: amountCents } }
  const hold = await reserve({ amountCents: amountCents as number, currency: 'USD' })
  if (!hold.ok) return { status: hold.status, body: { error: hold.code, field: hold.field } }
  if (ending === 'deny') return { status: 422, body: { error: 'own' } }
  if (ending !== 'open') hold.value.settle()
  if (ending === 'throw') throw Object.assign(new Error('own'), { status: 400, expose: true })
  return { status: 201, body: { paid: amountCents } }
}

/** An existing handler that fails as its body says. */
export const FAILING = '/user/v1/failures'
/** The same handler on a route that says which statuses are thrown before any effect. */
export const DECLARED = '/user/v1/declared-failures'

/** Both routes of the handler that fails. */
export const failures = ({ gate }: Pick<World, 'gate'>) =>
  [
    [FAILING, gate.idempotent({ operation: 'failures.create', allOf: ['cards.write'] })],
    [
      DECLARED,
      gate.idempotent(
        { operation: 'failures.declare', allOf: ['cards.write'] },
        { noEffectStatuses: [404, 422] },
      ),
    ],
  ] as const

/** The body of a request to a handler that fails. */
interface Failing {
  /** The status of the error to throw, and whether it is marked. */
  readonly thrown?: number
  readonly marked?: boolean
  /** The status to respond with. */
  readonly status?: number
}

/** Makes its effect; throws an error that frameworks turn into a status, or gives the status to write. */
export function failing(world: Pick<World, 'effects'>, call: IdempotentCall<Access>): number {
  world.effects.push(call.effect.effectId)
  const body = call.json()
  const { thrown, status, marked } = (body.ok ? body.value : {}) as Failing
  if (thrown === undefined) return status ?? 201
  const getResponse = (): Response => new Response('own', { status: thrown })
  const error = Object.assign(new Error('own'), {
    status: thrown,
    statusCode: thrown,
    expose: true,
    getResponse,
  })
  throw marked ? nothingHappened(error) : error
}

/** A body that is larger than what is kept for a repeat. */
export const LARGE = 'x'.repeat(reply + 1)

export const stream = (): Readable => Readable.from(['one', 'two'])

export async function createWorld(): Promise<World> {
  const limits = [{ name: 'perKey', points: POINTS, windowSeconds: 60, per: 'key' as const }]
  const policies = async (ids: readonly string[]) => ids.map(id => POLICIES[id])
  const { guard, bearer, clock } = await bench({ limits, policies, spend: memorySpends() })
  const failures: Failure[] = []
  const decisions: Decision[] = []
  const api = gate({
    scopes,
    guard,
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
    aliases: createAliases({
      prefixes: [{ from: '/consumer/v1', to: '/user/v1', mode: { deprecatedSince: Date.UTC(2026, 0, 1) } }],
      headers: [{ from: 'x-consumer-key', to: 'x-user-key', mode: 'serve' }],
    }),
    bodyLimitBytes: BODY_LIMIT_BYTES,
    responseLimitBytes: reply,
    trustProxy: ['127.0.0.1/32', '::1/128'],
    exposeHeaders: true,
    report: failure => failures.push(failure),
    observe: decision => decisions.push(decision),
  })
  const world = {
    gate: api,
    bearer,
    clock,
    failures,
    decisions,
    effects: [] as string[],
    hold: undefined,
    signal: undefined,
  }
  return Object.assign(world, { routes: routesOf(world) })
}

function routesOf(world: Omit<World, 'routes'>): Routes {
  const { gate } = world
  return {
    plans: mounted('GET', '/plans', gate.open('plans.list'), () => ({ status: 200, body: { plans: [] } })),
    whoami: mounted('GET', '/user/v1/whoami', gate.open('users.whoami'), ({ facts }) => ({
      status: 200,
      body: {
        key: facts.header('x-user-key'),
        path: facts.path,
        address: facts.address,
        secure: facts.secure,
      },
    })),
    fault: mounted('GET', '/fault', gate.open('plans.fault'), () => {
      throw new Fault('ERR_STORE_UNAVAILABLE', 'the secret name of a store', { retryAfterSeconds: 3 })
    }),
    boom: mounted('GET', '/boom', gate.open('plans.boom'), () => {
      throw new Error('an internal sentence')
    }),
    listCards: mounted(
      'GET',
      '/user/v1/cards',
      gate.guarded({ operation: 'cards.list', surface: 'user', allOf: ['cards.read'] }),
      ({ session }) => ({ status: 200, body: { cards: [], account: session.accountId } }),
    ),
    revealCard: mounted(
      'GET',
      '/user/v1/cards/secrets',
      gate.guarded({ operation: 'cards.reveal', allOf: ['cards.secrets.read'] }),
      () => ({ status: 200, body: {} }),
    ),
    createCard: mounted(
      'POST',
      '/user/v1/cards',
      gate.idempotent({ operation: 'cards.create', surface: 'user', allOf: ['cards.write'] }),
      async call => {
        const body = call.json()
        if (!body.ok) return body
        await effect(world, call)
        if (body.value['fail']) throw new Fault('ERR_STORE_UNAVAILABLE', 'lost on the way')
        const card = { id: world.effects.length, name: body.value['name'] }
        return { status: 201, headers: [['Location', '/user/v1/cards/1']], body: { card } }
      },
    ),
    pay: mounted(
      'POST',
      '/user/v1/payments',
      gate.idempotent({ operation: 'payments.create', allOf: ['cards.write'], spends: 'spend' }),
      paying,
    ),
  }
}

/** What every write of the tests does. */
export async function effect(
  world: Pick<World, 'effects' | 'hold' | 'signal'>,
  call: IdempotentCall<Access>,
): Promise<void> {
  world.signal = call.signal()
  world.effects.push(call.effect.effectId)
  await world.hold
}

/** A running server of some framework. */
export interface TestServer {
  readonly url: string
  close(): Promise<void>
}

/** Mounts a world in one framework and listens on a free loopback port. */
export type Start = (world: World) => Promise<TestServer>
