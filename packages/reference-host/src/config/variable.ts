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
