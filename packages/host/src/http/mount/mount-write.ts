import { randomUUID } from 'node:crypto'
import type { HandlerResponse } from '@gatewright/http'
import type { GuardedCall, KoaMiddleware } from '@gatewright/http/internal'
import type { KoaGate } from '@gatewright/http/koa'
import { allow, type Rule } from '@gatewright/kernel'
import { withinTransactionScope, withRollBack } from '@gatewright/kernel/internal/sql'
import type { Access } from '@gatewright/scope-guard'
import { callOf, toHandlerResponse, withIgnored, type GateCall } from './gate-call.ts'
import type { Requirements } from '../operations/requirements.ts'
import type { HostGate, MountServices } from './host-gate.ts'
import type { LedgerOperation, WriteContext } from '../operations/operation.ts'

/** The services that a mounted write uses. */
interface WriteParts {
  readonly rule: Rule<never>
  readonly options: object
  readonly services: MountServices
}

/** Mounts a write. Its declaration decides whether an idempotency key is required, optional or ignored. */
export function mountWrite(
  api: HostGate,
  koa: KoaGate,
  operation: LedgerOperation,
  parts: WriteParts,
): KoaMiddleware {
  const { idempotency = 'required' } = operation
  const transactional = transactionalRoute(api, operation, parts)
  const keyed = koa.handle({
    ...transactional,
    async run(call, decision) {
      const outcome = await transactional.run(call, decision)
      if (outcome.kind !== 'response') return outcome
      return { kind: 'response', response: withIgnored(operation, call as never, outcome.response) }
    },
  })
  if (idempotency === 'required') return keyed
  const route = api.guardedBy('session', parts.rule, parts.options)
  const plain = koa.handle(route, async call =>
    withIgnored(operation, call, await writeOnce(operation, call, call.caller, parts.services)),
  )
  if (idempotency === 'none') return plain
  return (ctx, next) => (ctx.req.headers['idempotency-key'] === undefined ? plain : keyed)(ctx, next)
}

/** Makes the route of a write with an idempotency key: its rows, its spend and its stored response commit together. */
function transactionalRoute(
  api: HostGate,
  operation: LedgerOperation,
  { rule, options, services: { db, requirements } }: WriteParts,
) {
  const prepare = operation.prepare?.bind(operation)
  const checkRequirements = requirementCheck(operation, requirements)
  return api.transactional(
    rule,
    async (call, context) => {
      // Checked in the transaction, also if it was before `prepare`. The denial is not stored, so that the same key works once the
      // account meets the requirements.
      const passed = await checkRequirements(context.tx, call.session)
      if (!passed.ok) return context.abandon(passed)
      return toHandlerResponse(await operation.write(callOf(call, call.access), context as WriteContext))
    },
    {
      ...options,
      ...(prepare
        ? {
            // Nothing is prepared for an account that may not write.
            async prepare(call: GuardedCall<Access>, { effectId }: { readonly effectId: string }) {
              const passed = await checkRequirements(db, call.session)
              return passed.ok ? prepare(callOf(call as never, call.access), effectId) : passed
            },
          }
        : {}),
    },
  )
}

/** Returns the check of the onboarding requirements of an operation. If it has none, the check always allows. */
function requirementCheck({ requires }: LedgerOperation, requirements: Requirements): Requirements['check'] {
  return requires ? (db, session) => requirements.check(db, session) : async () => allow(undefined)
}

/** Runs a write without an idempotency key in one transaction. A denial rolls all of its rows back. */
async function writeOnce(
  operation: LedgerOperation,
  call: GateCall,
  access: Access,
  { db, requirements }: MountServices,
): Promise<HandlerResponse> {
  const checkRequirements = requirementCheck(operation, requirements)
  const noSpend = async (): Promise<never> => {
    throw new TypeError(
      `${operation.id} called reserve or permits without an idempotency key: declare idempotency: "required"`,
    )
  }
  const passed = await checkRequirements(db, access.session)
  if (!passed.ok) return passed
  const effectId = randomUUID().replaceAll('-', '')
  const ready = await operation.prepare?.(callOf(call, access), effectId)
  if (ready && !ready.ok) return ready
  const prepared = ready?.value as never
  return withRollBack<HandlerResponse>(db, async (tx, rollBack) => {
    const passedInTransaction = await checkRequirements(tx, access.session)
    if (!passedInTransaction.ok) return rollBack(passedInTransaction)
    const spendsNothing = (): void => {}
    const context = { tx, effectId, prepared, reserve: noSpend, permits: noSpend, spendsNothing }
    const verdict = await withinTransactionScope(db, () => operation.write(callOf(call, access), context))
    return verdict.ok ? toHandlerResponse(verdict) : rollBack(verdict)
  })
}
