import { createParamDecorator, type ExecutionContext } from '@nestjs/common'
import type { OpenOperation, ReadOperation, WriteOperation } from '../operations.ts'
import { acceptedRequests, declare } from './methods.ts'

/**
 * Declares that a method is an operation that anyone may call, with the request limits of the gate. The method gets its input by Nest's
 * own decorators.
 */
export function Open(operation: string, options: OpenOperation = {}): MethodDecorator {
  return declare({ kind: 'open', operation, options })
}

/** Declares that a method requires a session with a scope, and changes nothing. */
export function Read(operation: string, options: ReadOperation): MethodDecorator {
  return declare({ kind: 'read', operation, options })
}

/**
 * Declares that a method is a write: it requires a session with a scope and an `Idempotency-Key`, and runs once for each key of an account.
 * `spends` gets the JSON body before Nest's pipes do. If a guard, a pipe or an interceptor fails before the method runs, nothing
 * happened: the amount is released and the key is free. If the method throws, the outcome is unknown, unless the options or
 * `nothingHappened(error)` say otherwise.
 */
export function Write<Body = Readonly<Record<string, unknown>>>(
  operation: string,
  options: WriteOperation<string, Body>,
): MethodDecorator {
  return declare({ kind: 'write', operation, options: options as WriteOperation })
}

function acceptedOf(context: ExecutionContext): { readonly session?: unknown } {
  const accepted = acceptedRequests.get(context.switchToHttp().getRequest<object>())
  if (!accepted)
    throw new TypeError(
      `${context.getClass().name}.${context.getHandler().name}: @Caller() and @Accepted() need @Read, @Write or @Open on the method`,
    )
  return accepted.given
}

/** Gives a parameter of a method the session of the caller: its account, key and scopes. */
export const Caller: () => ParameterDecorator = createParamDecorator((_: unknown, context) => {
  const { session } = acceptedOf(context)
  if (session === undefined)
    throw new TypeError(`${context.getClass().name}.${context.getHandler().name}: @Open has no caller`)
  return session
})

/**
 * Gives a parameter of a method the accepted request: for `@Write` a `WriteRequest` with `effectId`, `hold` and `reserve`, for `@Read` a
 * `ReadRequest`, for `@Open` an `OpenRequest`.
 */
export const Accepted: () => ParameterDecorator = createParamDecorator((_: unknown, context) =>
  acceptedOf(context),
)
