import type { OptionNames } from '@gatewright/kernel'
import type { OpenGate } from '../gate-types.ts'

/** The option names of a binding whose only option is `body`. */
export const BODY_OPTION: OptionNames<{ readonly body: unknown }> = { body: true }

/** Throws a `TypeError` unless the first argument of a binding is a gate. */
export function assertGate(binding: string, gate: OpenGate): void {
  const { settings, enter, adopt } = (gate ?? {}) as Partial<OpenGate>
  if (typeof settings === 'object' && typeof enter === 'function' && typeof adopt === 'function') return
  throw new TypeError(
    `${binding}: the first argument must be a gate made by gate({ ... }), got ${typeof gate}`,
  )
}

/**
 * Checks the option `body`. Throws a `TypeError` if it is missing: with a wrong default, idempotency would compare other bytes
 * than the client sent.
 */
export function checkedBody<B extends string>(body: B, choices: readonly B[]): B {
  if (choices.includes(body)) return body
  const names = choices.map(choice => `'${choice}'`).join(' or ')
  throw new TypeError(`body must be ${names}, got ${JSON.stringify(body)}: there is no default`)
}
