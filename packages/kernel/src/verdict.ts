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

/** What a denial may carry beside its code and message. A rule or reason that its package does not list does not compile. */
export type DenialExtras<Rules extends string = never, Reasons extends string = never> = Partial<
  Pick<Denial, 'field' | 'retryAfterSeconds'>
> & {
  /** `rule` names the rule that forbids the request: shown to the caller. */
  readonly details?: Readonly<Record<string, unknown>> & { readonly rule?: Rules }
  readonly reason?: Reasons
}

/**
 * The texts that a listed cause stands for: `{name}` in it stands for any text. `'wrong {field}'` is
 * `` `wrong ${string}` ``.
 */
export type CauseText<Listed extends string> = Listed extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${CauseText<After>}`
  : Listed

/** The closed union of denials that a table of codes can produce. */
export type DenialOf<Codes extends Readonly<Record<string, number>>> = {
  [C in keyof Codes & string]: Denial<C>
}[keyof Codes & string]

/**
 * Makes a package's `deny` from its code table (`codes.ts`), so that a code always carries its own status and
 * a code outside the table does not compile. Nor does a `details.rule` outside `Rules` or a `reason` outside `Reasons`;
 * without these lists a package says none.
 */
export function denier<
  const Codes extends Readonly<Record<string, number>>,
  Rules extends string = never,
  Reasons extends string = never,
>(
  codes: Codes,
): <C extends keyof Codes & string>(
  code: C,
  message: string,
  extras?: DenialExtras<Rules, Reasons>,
) => Denial<C> {
  return (code, message, extras) => ({ ...extras, ok: false, code, status: codes[code] as number, message })
}
