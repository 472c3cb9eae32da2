import { shared } from '@gatewright/kernel/internal'
import { Req } from '@nestjs/common'
import type { OpenOperation, ReadOperation, WriteOperation } from '../operations.ts'

/** What a decorator declares about a method of a controller. */
export type DeclaredOperation =
  | { readonly kind: 'open'; readonly operation: string; readonly options: OpenOperation }
  | { readonly kind: 'read'; readonly operation: string; readonly options: ReadOperation }
  | { readonly kind: 'write'; readonly operation: string; readonly options: WriteOperation }

/** Functions that `reflect-metadata` adds, which Nest loads. */
type Metadata = Record<'getMetadata', (key: unknown, target: object, name?: string | symbol) => unknown> &
  Record<'defineMetadata', (key: unknown, value: unknown, target: object, name?: string | symbol) => void> &
  Record<'getMetadataKeys', (target: object) => readonly unknown[]>
/** Reads and writes what decorators say. */
export const metadata = Reflect as unknown as Metadata

type Method = (this: unknown, ...given: unknown[]) => unknown

const OPERATION = 'gatewright:operation'
const operations: WeakMap<object, DeclaredOperation> = shared('nest.operations', () => new WeakMap())

/**
 * Returns the operation of a method; undefined for a method without a decorator, and for one in its place, also if the metadata
 * was copied to it.
 */
export function operationOf(method: object): DeclaredOperation | undefined {
  return operations.get(method)
}

/** Returns the operation that a class or one of its base classes declares under a name, whatever the method is now. */
export function operationAt(prototype: object, name: string): DeclaredOperation | undefined {
  return metadata.getMetadata(OPERATION, prototype, name) as DeclaredOperation | undefined
}

/** What happens to the handler of a write. */
export interface HandlerWatch {
  /** Throws an `Error` if the request has been responded to already, so that the handler does not run. */
  started(): void
  failed(error: unknown): void
}

/** A request that the guard of the module has accepted. */
interface AcceptedRequest {
  readonly declared: DeclaredOperation
  /** What `@Accepted()` gives. */
  readonly given: { readonly session?: unknown }
  /** Of a write. */
  readonly watch: HandlerWatch | undefined
}

/** The accepted requests, by the request of the platform. */
export const acceptedRequests: WeakMap<object, AcceptedRequest> = shared(
  'nest.acceptedRequests',
  () => new WeakMap(),
)

/** The parameter that Nest gives the request to, after all parameters of a method. */
const REQUEST_INDEX = 32

/** Declares an operation: puts a method in place of the decorated one that runs for accepted requests only. */
export function declare(declared: DeclaredOperation): MethodDecorator {
  return (prototype, name, descriptor) => {
    const property = descriptor as TypedPropertyDescriptor<unknown>
    const method = property.value as Method
    const other = operationOf(method)
    if (other)
      throw new TypeError(
        `${prototype.constructor.name}.${String(name)} is declared as ${declared.operation} and as ${other.operation}: use one of @Read, @Write and @Open`,
      )
    const guarded = guardedMethod(declared, method)
    operations.set(guarded, declared)
    metadata.defineMetadata(OPERATION, declared, prototype, name)
    Req()(prototype, name, REQUEST_INDEX)
    property.value = guarded
  }
}

/**
 * Returns a method that runs only for a request that the guard has accepted for it, and tells the watch of a write that it starts and
 * what it throws: Nest does not say whether an error came from the method or from a pipe before it. Other code calls the method as it
 * is. Metadata of decorators below is copied, because Nest reads it from the method.
 */
function guardedMethod(declared: DeclaredOperation, method: Method): Method {
  const guarded: Method = function (...given) {
    const request = given[REQUEST_INDEX]
    if (!request) return method.apply(this, given)
    const accepted = acceptedRequests.get(request)
    if (accepted?.declared !== declared)
      throw new TypeError(
        `${declared.operation}: no guard has accepted the request: import GatewrightModule.forRoot in the root module, and do not assign to the method, as by bind in the constructor`,
      )
    const run = (): unknown => method.apply(this, given.slice(0, REQUEST_INDEX))
    return accepted.watch ? watched(accepted.watch, run) : run()
  }
  Object.defineProperty(guarded, 'name', { value: method.name })
  for (const key of metadata.getMetadataKeys(method))
    metadata.defineMetadata(key, metadata.getMetadata(key, method), guarded)
  return guarded
}

async function watched(watch: HandlerWatch, run: () => unknown): Promise<unknown> {
  watch.started()
  try {
    return await run()
  } catch (error) {
    watch.failed(error)
    throw error
  }
}
