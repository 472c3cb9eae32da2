import type { OptionNames } from '@gatewright/kernel'
import type { OpenGate } from './gate-types.ts'

/** The names of a binding's options where it has one. */
export const BODY_OPTION: OptionNames<{ readonly body: unknown }> = { body: true }

/** Checks what a binding is given to mount. Throws a `TypeError` for anything but a gate. */
export function checkGate(binding: string, gate: OpenGate): void {
  const { settings, enter, adopt } = (gate ?? {}) as Partial<OpenGate>
  if (typeof settings === 'object' && typeof enter === 'function' && typeof adopt === 'function') return
  throw new TypeError(
    `${binding}: the first argument must be a gate, which gate({ ... }) makes, not ${typeof gate}`,
  )
}

/** Checks what is mounted on a path. Throws a `TypeError` for anything but a route, and a function where one is to run. */
export function checkMounted(
  route: { readonly operation: string; admit: unknown },
  ...handlers: unknown[]
): void {
  if (typeof route?.admit !== 'function') {
    throw new TypeError(
      `a route must be what open, guarded or idempotent of the gate made, not ${typeof route}`,
    )
  }
  if (handlers.some(handler => typeof handler !== 'function')) {
    throw new TypeError(`${route.operation}: its handler must be a function, not ${typeof handlers[0]}`)
  }
}
