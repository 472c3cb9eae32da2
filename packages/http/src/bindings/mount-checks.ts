import type { OptionNames } from '@gatewright/kernel'
import type { OpenGate } from '../gate-types.ts'

/** The option names of a binding whose only option is `body`. */
export const BODY_OPTION: OptionNames<{ readonly body: unknown }> = { body: true }

/** Checks the first argument of a binding. Throws a `TypeError` unless it is a gate. */
export function checkGate(binding: string, gate: OpenGate): void {
  const { settings, enter, adopt } = (gate ?? {}) as Partial<OpenGate>
  if (typeof settings === 'object' && typeof enter === 'function' && typeof adopt === 'function') return
  throw new TypeError(
    `${binding}: the first argument must be a gate made by gate({ ... }), got ${typeof gate}`,
  )
}
