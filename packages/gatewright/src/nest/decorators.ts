import { AsyncLocalStorage } from 'node:async_hooks'
import { createParamDecorator, type ExecutionContext } from '@nestjs/common'
import type { ConnectRequest } from '@gatewright/http/express'
import type { OpenOperation, ReadOperation, WriteOperation } from '../operations.ts'

/** What a decorator declares about a method of a controller. */
export type DeclaredOperation =
  | { readonly kind: 'open'; readonly operation: string; readonly options: OpenOperation }
  | { readonly kind: 'read'; readonly operation: string; readonly options: ReadOperation }
  | { readonly kind: 'write'; readonly operation: string; readonly options: WriteOperation }

/** Functions that `reflect-metadata` adds, which Nest loads. */
type Metadata = Record<'getMetadata', (key: unknown, target: object) => unknown> &
  Record<'defineMetadata', (key: unknown, value: unknown, target: object) => void> &
  Record<'getMetadataKeys', (target: object) => readonly unknown[]>
const metadata = Reflect as unknown as Metadata

const OPERATION = 'gatewright:operation'

/** Returns the operation of a method; undefined for a method without a decorator. */
export function operationOf(method: object): DeclaredOperation | undefined {
  return metadata.getMetadata(OPERATION, method) as DeclaredOperation | undefined
}

/** What happens to the handler of a write. */
export interface HandlerWatch {
  started(): void
  failed(error: unknown): void
}

/** The watch of the request that is being handled. */
export const handlerWatch: AsyncLocalStorage<HandlerWatch> = new AsyncLocalStorage()

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

function declare(declared: DeclaredOperation): MethodDecorator {
  return (_prototype, _name, descriptor) => {
    const { value } = descriptor as TypedPropertyDescriptor<unknown>
    const method = value as (...given: unknown[]) => unknown
    const watched = declared.kind === 'write' ? watchedMethod(method) : method
    metadata.defineMetadata(OPERATION, declared, watched)
    ;(descriptor as TypedPropertyDescriptor<unknown>).value = watched
  }
}

/**
 * Returns a method that tells the watch of its request that it starts and what it throws: Nest alone does not say whether an error came
 * from the method or from a pipe before it. Metadata of decorators below is copied, because Nest reads it from the method.
 */
function watchedMethod(method: (...given: unknown[]) => unknown): typeof method {
  const watched = async function (this: unknown, ...given: unknown[]): Promise<unknown> {
    const watch = handlerWatch.getStore()
    watch?.started()
    try {
      return await method.apply(this, given)
    } catch (error) {
      watch?.failed(error)
      throw error
    }
  }
  Object.defineProperty(watched, 'name', { value: method.name })
  for (const key of metadata.getMetadataKeys(method))
    metadata.defineMetadata(key, metadata.getMetadata(key, method), watched)
  return watched
}

/** The accepted requests, by the request of Express. */
export const acceptedRequests: WeakMap<object, { readonly session?: unknown }> = new WeakMap()

function acceptedOf(context: ExecutionContext): { readonly session?: unknown } {
  const accepted = acceptedRequests.get(context.switchToHttp().getRequest<ConnectRequest>())
  if (!accepted)
    throw new TypeError(
      `${context.getClass().name}.${context.getHandler().name}: @Caller() and @Accepted() need @Read, @Write or @Open on the method`,
    )
  return accepted
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
