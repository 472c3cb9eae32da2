import type { MessageVerifier } from '@gatewright/host/internal'
import type { Reply } from './reply.ts'

/** A method of a port: the types of its arguments, and its reply. */
export interface Method<Args extends readonly unknown[], T> extends Reply<T> {
  /** Carries the types; never set. */
  readonly call?: (...args: [...args: Args, signal: AbortSignal]) => Promise<T>
}

/** A method that a provider need not have. */
export interface OptionalMethod<Args extends readonly unknown[], T> extends Method<Args, T> {
  readonly isOptional: true
}

/** Declares a method that a provider need not have. */
export function optional<Args extends readonly unknown[], T>(
  method: Method<Args, T>,
): OptionalMethod<Args, T> {
  return { ...method, isOptional: true }
}

/** Declares a method by the arguments before its signal: `takes<[id: string]>().replies(cardSecrets)`. The host checks replies only. */
export function takes<Args extends readonly unknown[]>(): { replies<T>(reply: Reply<T>): Method<Args, T> } {
  return { replies: reply => reply }
}

/** What the host calls on one kind of provider. The type of such a provider follows from it, and so do the checks of `checkedProvider`. */
export type Port = Readonly<Record<string, Reply<unknown>>>

/** What every provider has beside the methods of its port. */
export interface NamedProvider {
  /** The name in `/providers/{name}/events` and `PROVIDER_WEBHOOK_SECRETS`: 1 to 32 characters of `a-z0-9-`. */
  readonly name: string
  /** Verifies the signature of an event. Absent if the provider signs events by Standard Webhooks 1.0.0. */
  readonly verify?: MessageVerifier
}

/** The methods of a provider of a port. */
export type MethodsOf<P extends Port> = {
  readonly [M in keyof P as P[M] extends { readonly isOptional: true } ? never : M]: FunctionOf<P[M]>
} & {
  readonly [M in keyof P as P[M] extends { readonly isOptional: true } ? M : never]?: FunctionOf<P[M]>
}

type FunctionOf<M> =
  M extends Method<infer Args, infer T>
    ? (...args: [...args: Args, signal: AbortSignal]) => Promise<T>
    : never

/**
 * A provider of a port. A call must end within 10 seconds and stop when its signal aborts. Faults: `ERR_PROVIDER_UNAVAILABLE` for an
 * outage, `ERR_PROVIDER_REPLY` for a malformed reply. Their messages are logged, so they must contain no personal data and no card
 * number. Any other error counts as an outage.
 */
export type ProviderOf<P extends Port> = NamedProvider & MethodsOf<P>
