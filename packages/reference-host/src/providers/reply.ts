import * as Type from 'typebox/type'
import { idText, nameText } from '@gatewright/host/schemas'
import { compileSchema } from '@gatewright/host/internal'

/** What a provider replies: a type, and the check that a reply of that type passes. */
export interface Reply<T> {
  /** Returns the first error in a reply, without its values; undefined for a valid one. */
  readonly validate: ReturnType<typeof compileSchema>
  /** Carries the type; never set. */
  readonly type?: T
}

/** A reply whose members are known, so that an event can carry it. */
export interface ObjectReply<T> extends Reply<T> {
  readonly schema: Type.TObject
}

/** The type of a reply: `ReplyType<typeof kycReport>`. */
export type ReplyType<R> = R extends Reply<infer T> ? T : never

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T

/** Declares a reply by its schema. Comments on members of the schema are those of the type, too. */
export function reply<S extends Type.TSchema>(
  schema: S,
): Reply<Immutable<Type.Static<S>>> & { readonly schema: S } {
  return { schema, validate: compileSchema(schema) }
}

/** The schema of a member that can be null. */
export const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const rejection = reply(
  Type.Object({
    /** Why, for the account and the operator: 1 to 200 characters, without personal data. */
    rejected: nameText(1, 200),
  }),
)

/** The expected no of a provider: a reply, not a fault. */
export type Rejection = ReplyType<typeof rejection>

/** Whether a reply is a rejection. */
export function isRejection(given: object): given is Rejection {
  return 'rejected' in given
}

/** Declares a reply that can also be a rejection. */
export function orRejection<T>({ validate }: Reply<T>): Reply<T | Rejection> {
  return {
    validate: given =>
      typeof given === 'object' && given !== null && isRejection(given)
        ? rejection.validate(given)
        : validate(given),
  }
}

/** Declares a reply that is undefined if the provider does not know the id. */
export function orUndefined<T>({ validate }: Reply<T>): Reply<T | undefined> {
  return { validate: given => (given === undefined ? undefined : validate(given)) }
}

/** Declares a page of a list: its entries, and what continues the list; null at its end. */
export function pageOf<T>({ validate }: Reply<T>): Reply<{
  readonly changes: readonly T[]
  readonly next: string | null
}> {
  return {
    validate(given) {
      const problem = page.validate(given)
      if (problem) return problem
      for (const change of (given as ReplyType<typeof page>).changes) {
        const wrong = validate(change)
        if (wrong) return wrong
      }
      return undefined
    },
  }
}

const page = reply(Type.Object({ changes: Type.Array(Type.Unknown()), next: orNull(idText(1024)) }))

/** Declares what an event of a provider carries: a report with the `id` of its object. */
export function withId<T>({ schema }: ObjectReply<T>): ObjectReply<T & { readonly id: string }> {
  const named = Type.Object({ id: idText(), ...schema.properties })
  return { schema: named, validate: compileSchema(named) }
}
