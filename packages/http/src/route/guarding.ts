import { shared } from '@gatewright/kernel/internal'

/** The functions that guard an operation, with the operation. */
const guardedOperations: WeakMap<object, string> = shared('guardedOperations', () => new WeakMap())

/** Notes that a function guards an operation, and returns the function. */
export function guarding<F extends object>(operation: string, mounted: F): F {
  guardedOperations.set(mounted, operation)
  return mounted
}

/** Returns the operation that a function guards; undefined for any other function. */
export function operationGuardedBy(mounted: object): string | undefined {
  return guardedOperations.get(mounted)
}

/** Throws a `TypeError` for a handler that guards an operation itself: the request would be authorized and counted twice. */
export function assertUnguarded(operation: string, handler: unknown): void {
  const other = typeof handler === 'function' ? operationGuardedBy(handler) : undefined
  if (other === undefined) return
  throw new TypeError(
    `${operation}: the handler is guarded already, as ${other}, so that each request would be authorized and counted twice: give the handler itself`,
  )
}

/** Makes the error for a route with the guard of an operation twice. */
export function mountedTwice(operation: string): TypeError {
  return new TypeError(
    `${operation}: its guard is mounted twice on one route, where it would count the request twice and a write would wait for itself: mount it once`,
  )
}
