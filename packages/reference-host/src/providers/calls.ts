import { setMaxListeners } from 'node:events'
import { Fault } from '@gatewright/kernel'
import { withDeadline } from '@gatewright/kernel/internal'
import type { Port, ProviderOf } from './port.ts'
import type { Reply } from './reply.ts'

/** How long a call to a provider may take. */
const CALL_MS = 10_000

/** How a call to a provider ended. */
export type CallOutcome = 'answered' | 'unavailable' | 'malformed'

/** How calls are limited and counted. */
export interface CallOptions {
  /** Counts a call. */
  readonly count: (outcome: CallOutcome) => void
  /** How long a call may take. Default 10 000; other values are for tests. */
  readonly limitMs?: number
}

/**
 * Wraps a provider: its calls end within the time limit and are counted, its replies are checked, and every error becomes a fault
 * whose message contains no personal data. Faults: `ERR_PROVIDER_UNAVAILABLE`, `ERR_PROVIDER_REPLY`.
 */
export function checkedProvider<P extends Port>(
  port: P,
  provider: ProviderOf<P>,
  { count, limitMs = CALL_MS }: CallOptions,
): ProviderOf<P> {
  const { name } = provider
  // A provider can be an instance of a class, whose methods and getters a spread would lose.
  const verify = provider.verify?.bind(provider)
  const methods = provider as unknown as { readonly [M in keyof P]: (...args: unknown[]) => Promise<unknown> }
  const replies = Object.entries(port) as [method: keyof P & string, reply: Reply<unknown>][]
  const present = replies.filter(([method, reply]) => !('isOptional' in reply) || method in provider)
  const calls = present.map(([method, { validate }]) => {
    const call = async (...args: unknown[]): Promise<unknown> => {
      const signal = args.pop() as AbortSignal
      // One signal serves all calls of a round, and Node.js warns of a leak from the eleventh listener on.
      setMaxListeners(0, signal)
      try {
        const reply = await withDeadline({ ms: limitMs, signal }, within => methods[method](...args, within))
        const problem = validate(reply)
        if (problem)
          throw new Fault(
            'ERR_PROVIDER_REPLY',
            `provider ${name} sent an invalid reply to ${method}: ${problem.message}`,
          )
        count('answered')
        return reply
      } catch (error) {
        const fault = providerFault(name, error)
        count(fault.code === 'ERR_PROVIDER_REPLY' ? 'malformed' : 'unavailable')
        throw fault
      }
    }
    return [method, call]
  })
  return { name, ...(verify ? { verify } : {}), ...Object.fromEntries(calls) } as ProviderOf<P>
}

/** Keeps only the name of an unknown error: messages of libraries can contain what they sent, which is personal data. */
function providerFault(name: string, error: unknown): Fault {
  // The cause is left out: its message is logged too, and can contain personal data.
  if (error instanceof Fault && error.code.startsWith('ERR_PROVIDER_'))
    return new Fault(error.code, error.message, { retryAfterSeconds: error.retryAfterSeconds })
  const kind = error instanceof Error ? error.name : typeof error
  const isLate = kind === 'TimeoutError' || kind === 'AbortError'
  const problem = isLate ? 'did not answer in time, or the call was canceled' : `failed: ${kind}`
  return new Fault('ERR_PROVIDER_UNAVAILABLE', `provider ${name} ${problem}`)
}
