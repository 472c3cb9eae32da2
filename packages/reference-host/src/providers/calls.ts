import { setMaxListeners } from 'node:events'
import { Fault } from '@gatewright/kernel'
import { validateCardSecrets, validateIssueReply, type CardIssuer } from './card-issuer.ts'
import { validateKycReport, type KycProvider } from './kyc.ts'

/** How long a call to a provider may take. */
const CALL_MS = 10_000

/** How a call to a provider ended. */
type CallOutcome = 'answered' | 'unavailable' | 'malformed'

/** How calls are limited and counted. */
export interface CallOptions {
  /** Counts a call. */
  readonly count: (port: string, outcome: CallOutcome) => void
  /** How long a call may take. Default 10 000; other values are for tests. */
  readonly limitMs?: number
}

/**
 * Wraps a provider: its calls end within the time limit, its replies are checked against their schema, and every error becomes a
 * fault whose message contains no personal data. Faults: `ERR_PROVIDER_UNAVAILABLE`, `ERR_PROVIDER_REPLY`.
 */
export function limitedKyc(provider: KycProvider, options: CallOptions): KycProvider {
  const { name } = provider
  // A provider can be an instance of a class, whose methods and getters a spread would lose.
  const verify = provider.verify?.bind(provider)
  return {
    name,
    ...(verify ? { verify } : {}),
    submit: (id, application, signal) =>
      limited(name, 'kyc', signal, options, async within => {
        const report = await provider.submit(id, application, within)
        const problem = validateKycReport(report)
        if (problem)
          throw new Fault('ERR_PROVIDER_REPLY', `provider ${name} sent an invalid report: ${problem.message}`)
        return report
      }),
  }
}

/** Wraps a card issuer, as `limitedKyc` wraps a provider of identity checks. */
export function limitedIssuer(issuer: CardIssuer, options: CallOptions): CardIssuer {
  const { name } = issuer
  const verify = issuer.verify?.bind(issuer)
  const checked = <T>(reply: T, problem: { readonly message: string } | undefined): T => {
    if (problem)
      throw new Fault('ERR_PROVIDER_REPLY', `provider ${name} sent an invalid card: ${problem.message}`)
    return reply
  }
  return {
    name,
    ...(verify ? { verify } : {}),
    issue: (id, order, signal) =>
      limited(name, 'cards', signal, options, async within => {
        const reply = await issuer.issue(id, order, within)
        return checked(reply, validateIssueReply(reply))
      }),
    reveal: (id, signal) =>
      limited(name, 'cards', signal, options, async within => {
        const reply = await issuer.reveal(id, within)
        return checked(reply, validateCardSecrets(reply))
      }),
  }
}

/** Runs a call to a provider within the time limit, and counts its outcome. */
export async function limited<T>(
  name: string,
  port: string,
  signal: AbortSignal,
  { count, limitMs = CALL_MS }: CallOptions,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not `AbortSignal.any`: it holds its sources weakly, so on Node.js 20 a garbage collection can drop the timeout, and the
  // call never ends.
  const within = new AbortController()
  let stop = (): void => {}
  const ended = new Promise<never>((_, reject) => {
    const message = `provider ${name} did not answer in time, or the call was canceled`
    stop = () => {
      reject(new Fault('ERR_PROVIDER_UNAVAILABLE', message))
      within.abort()
    }
  })
  const timer = setTimeout(stop, limitMs)
  // One signal serves all calls of a round, and Node.js warns of a leak from the eleventh listener on.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const response = await Promise.race([call(within.signal), ended])
    count(port, 'answered')
    return response
  } catch (error) {
    const fault = providerFault(name, error)
    count(port, fault.code === 'ERR_PROVIDER_REPLY' ? 'malformed' : 'unavailable')
    throw fault
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** Keeps only the name of an unknown error: messages of libraries can contain what they sent, which is personal data. */
function providerFault(name: string, error: unknown): Fault {
  // The cause is left out: its message is logged too, and can contain personal data.
  if (error instanceof Fault && error.code.startsWith('ERR_PROVIDER_'))
    return new Fault(error.code, error.message, { retryAfterSeconds: error.retryAfterSeconds })
  const kind = error instanceof Error ? error.name : typeof error
  return new Fault('ERR_PROVIDER_UNAVAILABLE', `provider ${name} failed: ${kind}`)
}
