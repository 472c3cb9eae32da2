import type { OpenCall } from '@gatewright/http'
import type { GuardedCall } from '@gatewright/http/internal'
import type { CompleteRoute } from '@gatewright/http/internal/tools'
import { allow, type Rule, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { together } from '@gatewright/kernel/internal/sql'
import type { Access } from '@gatewright/scope-guard'
import { callOf, toHandlerResponse, withIgnored } from './host-call.ts'
import type { Requirements } from '../operations/requirements.ts'
import type { HostGate, MountServices } from './host-gate.ts'
import type { LedgerOperation, Success, WriteContext } from '../operations/operation.ts'

/** The services that a mounted write uses. */
export interface WriteParts {
  readonly rule: Rule<never>
  readonly options: object
  readonly services: MountServices
}

/**
 * Declares a write on the gate. Its rows commit in one transaction, with an idempotency key together with its spend and its stored response. A denial of
 * the requirements is not stored, so that the same key works once the account meets them.
 */
export function writeRoute(
  api: HostGate,
  operation: LedgerOperation,
  { rule, options, services }: WriteParts,
): CompleteRoute<OpenCall> {
  const { idempotency: idempotencyKey = 'required' } = operation
  const checkRequirements = requirementCheck(operation, services.requirements)
  const route = api.transactional(
    rule,
    async (call, context) => {
      const write = async (tx: SqlQueries): Promise<Verdict<Success>> =>
        operation.write(callOf(call, call.access), { ...context, tx } as WriteContext)
      // In one round trip with the first statement of the write. A denial counts before what the write says, and rolls back what it did.
      const [passed, written] = await together(
        context.tx,
        on => checkRequirements(on, call.session),
        on => settled(write(on)),
      )
      return passed.ok ? toHandlerResponse(written()) : context.abandon(passed)
    },
    { ...options, idempotencyKey, ...preparation(operation, services) },
  )
  return {
    ...route,
    async run(call, decision) {
      const outcome = await route.run(call as never, decision)
      if (outcome.kind !== 'response') return outcome
      return { kind: 'response', response: withIgnored(operation, call, outcome.response) }
    },
  }
}

/** Waits for work, and returns a function that returns its result or throws its error. */
async function settled<T>(work: Promise<T>): Promise<() => T> {
  try {
    const result = await work
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/**
 * Makes the option `prepare` of a write that has one. Nothing is prepared for an account that may not write, so its requirements are also
 * checked before: other services may take seconds, in which an account may be locked.
 */
function preparation(operation: LedgerOperation, { db, requirements }: MountServices): object {
  if (!operation.prepare) return {}
  const checkRequirements = requirementCheck(operation, requirements)
  return {
    async prepare(call: GuardedCall<Access>, { effectId }: { readonly effectId: string }) {
      const passed = await checkRequirements(db, call.session)
      return passed.ok ? operation.prepare?.(callOf(call, call.access), effectId) : passed
    },
  }
}

/** Returns the check of what an operation requires of the account. If it has none, the check always allows. */
function requirementCheck({ requires }: LedgerOperation, requirements: Requirements): Requirements['check'] {
  if (requires === 'onboarding') return (db, session) => requirements.check(db, session)
  if (requires === 'unlocked') return (db, session) => requirements.checkLock(db, session)
  return async () => allow(undefined)
}
