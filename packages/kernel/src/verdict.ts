/**
 * An expected "no": data, never thrown. Codes are spelled as on the wire and each package closes its own union.
 * `message` may be shown to the caller, so it never holds tokens, keys, signatures, bodies or internal text.
 */
export interface Denial<Code extends string = string> {
  readonly ok: false
  readonly code: Code
  /** HTTP status a host answers with. */
  readonly status: number
  readonly message: string
  /** The request field (or header) at fault, where there is one. */
  readonly field?: string
  /** Seconds after which the same call may succeed; rendered as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Facts for the caller that are safe to show: which scope, which rule, what remains. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The exact reason, for the decision event only. Never rendered. */
  readonly reason?: string
}

/** An expected "yes". */
export interface Allowed<T> {
  readonly ok: true
  readonly value: T
}

/** What every decision returns. A broken world is not a verdict: it throws a `Fault`. */
export type Verdict<T, D extends Denial = Denial> = Allowed<T> | D

/** Wraps a decided "yes". */
export function allow<T>(value: T): Allowed<T> {
  return { ok: true, value }
}

type Extras = Partial<Pick<Denial, 'field' | 'retryAfterSeconds' | 'details' | 'reason'>>

/** The closed union of denials that a table of codes can produce. */
export type DenialOf<Codes extends Readonly<Record<string, number>>> = {
  [C in keyof Codes & string]: Denial<C>
}[keyof Codes & string]

/**
 * Makes a package's `deny` from its code table (`codes.ts`), so that a code always carries its own status and
 * a code outside the table does not compile.
 */
export function denier<const Codes extends Readonly<Record<string, number>>>(
  codes: Codes,
): <C extends keyof Codes & string>(code: C, message: string, extras?: Extras) => Denial<C> {
  return (code, message, extras) => ({ ...extras, ok: false, code, status: codes[code] as number, message })
}
