import * as Type from 'typebox/type'
import type { TSchema } from 'typebox/type'

/** Names a schema as a component of the API description. */
export function component(title: string, description: string): { title: string; description: string } {
  return { title, description }
}

/** Schema of a text. */
export function text(description: string): Type.TString {
  return Type.String({ description })
}

/** Schema of a text or null. */
export function textOrNull(description: string): TSchema {
  return Type.Union([Type.String(), Type.Null()], { description })
}

/** Schema of a timestamp in UTC (RFC 3339). */
export function instant(description: string): Type.TString {
  return Type.String({ format: 'date-time', description })
}

/** Schema of a timestamp or null. */
export function instantOrNull(description: string): TSchema {
  return Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
}

/** Schema of a currency. The host's accounts are in US dollars. */
export const Currency: Type.TEnum<['USD']> = Type.Enum(['USD'], component('Currency', 'An ISO 4217 code'))

/** Schema of the cursor of the next page. */
export const nextCursor: TSchema = textOrNull('The `cursor` of the next page; null on the last page')
