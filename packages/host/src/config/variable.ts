import type { Parser } from './parsers.ts'

/** One environment variable. */
export interface Variable<T> {
  readonly parse: Parser<T>
  readonly fallback: T
  /** The default as the documentation shows it. */
  readonly defaultText: string
  readonly meaning: string
}

/** A variable with a default. */
export function variable<T>(
  parse: Parser<T>,
  fallback: T,
  defaultText: string,
  meaning: string,
): Variable<T> {
  return { parse, fallback, defaultText, meaning }
}

/** A variable that may be absent. */
export function optional<T>(parse: Parser<T>, defaultText: string, meaning: string): Variable<T | undefined> {
  return { parse, fallback: undefined, defaultText, meaning }
}

/** A table of variables by name. */
export type Variables = Readonly<Record<string, Variable<unknown>>>

/** The parsed values of a table of variables, by name. */
export type ValuesOf<V> = { readonly [N in keyof V]: V[N] extends Variable<infer T> ? T : never }

/** The environment of a process. */
export type Env = Readonly<Record<string, string | undefined>>

/**
 * Parses the variables of a table. An empty variable counts as unset. `values` lacks those that could not be parsed; the problem of each
 * starts with its name.
 */
export function parseVariables<V extends Variables>(
  table: V,
  env: Env,
): { readonly values: Partial<ValuesOf<V>>; readonly problems: readonly string[] } {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { parse, fallback }] of Object.entries(table)) {
    const text = env[name]
    const result = text === undefined || text === '' ? { value: fallback } : parse(text)
    if ('expected' in result) problems.push(`${name} ${result.expected}`)
    else values[name] = result.value
  }
  return { values: values as Partial<ValuesOf<V>>, problems }
}
