import type { OpenGate } from '../gate-types.ts'

/** Throws a `TypeError` unless the first argument of a binding is a gate. */
export function assertGate(binding: string, gate: OpenGate): void {
  const { settings, enter, adopt } = (gate ?? {}) as Partial<OpenGate>
  if (typeof settings === 'object' && typeof enter === 'function' && typeof adopt === 'function') return
  throw new TypeError(
    `${binding}: the first argument must be a gate made by gate({ ... }), got ${typeof gate}`,
  )
}
