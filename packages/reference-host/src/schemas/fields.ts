import * as Type from 'typebox/type'
import type { TSchema } from 'typebox/type'

/** The options of a schema that the API description shows as a component of this name. */
export function component(title: string, description: string): { title: string; description: string } {
  return { title, description }
}

/** Text that means something to the host. */
export function text(description: string): Type.TString {
  return Type.String({ description })
}

/** Text, or null where there is none. */
export function textOrNull(description: string): TSchema {
  return Type.Union([Type.String(), Type.Null()], { description })
}

/** An instant in UTC, as RFC 3339 has it. */
export function instant(description: string): Type.TString {
  return Type.String({ format: 'date-time', description })
}

/** An instant, or null where there is none. */
export function instantOrNull(description: string): TSchema {
  return Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
}

/** What the host keeps accounts in. */
export const Currency: Type.TEnum<['USD']> = Type.Enum(['USD'], component('Currency', 'An ISO 4217 code'))

/** The position of the next page. */
export const nextCursor: TSchema = textOrNull('What `cursor` must be to get what follows; null at the end')

/** Scopes that were granted. */
export const grantedScopes: TSchema = Type.Array(Type.String(), { description: 'What it may be used for' })

/** Scopes that were asked for and are no longer given. */
export const ignoredScopes: Type.TOptional<TSchema> = Type.Optional(
  Type.Array(Type.String(), { description: 'Retired scopes that were asked for. They grant nothing' }),
)

/** A policy in a request. What it may hold is checked by the guard. */
export const Policy: TSchema = Type.Unknown(
  component('Policy', 'Limits on what a key or a session may do: operations, amounts, addresses, times'),
)
