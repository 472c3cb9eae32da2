import { scopeCatalogue, type Rule } from '@gatewright/kernel'
import { gate, type Handler } from '@gatewright/http'
import type { Failure } from '#packages/http/dist/options.js'
import type { SpendingCall } from '#packages/http/dist/handler-types.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency, type RecoveryResult } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import type { Access, Policy, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { randomUUID } from 'node:crypto'
import { bench } from '../../scope-guard/issuer.ts'

export type Pay = SpendingCall<Access, SpendHold>

export const scopes = scopeCatalogue(['payments.write'])
export const rule = { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' } as const
type SpendingRule = Rule<'payments.write'> & { readonly spends: 'spend' | 'withdrawal' }
export const TEN_CENTS = { amountCents: 10, currency: 'USD' }

interface Sent {
  readonly key?: string
  readonly policyIds?: readonly string[]
  readonly as?: SpendingRule
}

/** A gate whose guard counts in a store that can be broken, and the outcomes of its calls. */
export async function setUp(
  policies: Record<string, Policy> = { ten: { dailySpendCapCents: 10 } },
  spend: SpendStorage = memorySpends(),
) {
  const broken: Partial<SpendStorage> = {}
  const verb = <V extends 'reserve' | 'release'>(name: V): SpendStorage[V] =>
    ((...args: never[]) => (broken[name] ?? spend[name])(...(args as [never, never, never, never]))) as never
  const store: SpendStorage = { ...spend, reserve: verb('reserve'), release: verb('release') }
  const { guard, bearer, clock } = await bench({
    policies: async ids => ids.map(id => policies[id]),
    spend: store,
  })
  const failures: Failure[] = []
  let recovered: RecoveryResult = { state: 'unknown' }
  const idempotencyStorage = memoryIdempotency()
  const idempotency = createIdempotency({
    storage: idempotencyStorage,
    clock,
    waitMs: 1000,
    recover: async () => recovered,
  })
  const api = gate({ guard, scopes, idempotency, report: failure => failures.push(failure) })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })

  /** Sends a payment under the policies of a session. */
  const send = async (
    handler: Handler<Pay>,
    { key = 'key-00000001', policyIds = ['ten'], as = rule }: Sent = {},
  ) => {
    const headers = {
      authorization: await bearer({ scopes: ['payments.write'], policyIds }),
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const request = new Request('http://api.test/', { method: 'POST', headers, body: '{}' })
    const response = await handle(api.idempotent(as), handler)(request, undefined)
    const text = await response.text()
    const replayed = response.headers.get('idempotency-replayed') === 'true'
    return { status: response.status, body: JSON.parse(text || '{}') as Record<string, unknown>, replayed }
  }
  /** What is left of the cap of ten. */
  const left = async (): Promise<number> => {
    for (let amountCents = 10; amountCents > 0; amountCents--) {
      const probe = await send(
        async ({ reserve }) => {
          const hold = await reserve({ amountCents, currency: 'USD' })
          return hold.ok ? { status: 422 } : hold
        },
        { key: randomUUID() },
      )
      if (probe.status === 422) return amountCents
    }
    return 0
  }
  const recoverAs = (state: RecoveryResult): unknown => (recovered = state)
  return {
    guard,
    bearer,
    clock,
    api,
    idempotency,
    idempotencyStorage,
    failures,
    spend,
    broken,
    send,
    left,
    recoverAs,
    handle,
  }
}

/** Pays ten cents. */
export const paying: Handler<Pay> = async ({ reserve }) => {
  const hold = await reserve(TEN_CENTS)
  if (!hold.ok) return hold
  hold.value.settle()
  return created
}

export const created = { status: 201, body: { paid: true } }
export const denied = { status: 422, body: { error: 'own' } }
