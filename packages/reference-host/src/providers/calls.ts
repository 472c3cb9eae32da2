import { Fault } from '@gatewright/kernel'
import { kycReportFault, type KycProvider } from './kyc.ts'

/** For how long a call to a provider may take. */
const CALL_MS = 10_000

/** How a call to a provider ended. */
export type CallOutcome = 'answered' | 'unavailable' | 'malformed'

/** What the limited provider works with. */
export interface CallOptions {
  /** Counts a call. */
  readonly count: (port: string, outcome: CallOutcome) => void
  /** For tests. Default: 10 seconds. */
  readonly limitMs?: number
}

/** A provider whose calls end in time, whose replies are of the right form, and whose failures are faults without personal data. */
export function limitedKyc(provider: KycProvider, options: CallOptions): KycProvider {
  const { name } = provider
  return {
    ...provider,
    submit: (id, application, signal) =>
      limited(name, 'kyc', signal, options, async within => {
        const report = await provider.submit(id, application, within)
        const fault = kycReportFault(report)
        if (fault) throw new Fault('ERR_PROVIDER_REPLY', `provider ${name}: in a report, ${fault.message}`)
        return report
      }),
  }
}

async function limited<T>(
  name: string,
  port: string,
  signal: AbortSignal,
  { count, limitMs = CALL_MS }: CallOptions,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  let stop = (): void => {}
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(new Fault('ERR_PROVIDER_UNAVAILABLE', `provider ${name} was too slow`))
    within.addEventListener('abort', stop, { once: true })
    if (within.aborted) stop()
  })
  try {
    const answer = await Promise.race([call(within), ended])
    count(port, 'answered')
    return answer
  } catch (error) {
    const fault = providerFault(name, error)
    count(port, fault.code === 'ERR_PROVIDER_REPLY' ? 'malformed' : 'unavailable')
    throw fault
  } finally {
    within.removeEventListener('abort', stop)
  }
}

/** Other errors are left out but for their kind: libraries put what they sent into their messages. */
function providerFault(name: string, error: unknown): Fault {
  if (error instanceof Fault && error.code.startsWith('ERR_PROVIDER_')) return error
  const kind = error instanceof Error ? error.name : typeof error
  return new Fault('ERR_PROVIDER_UNAVAILABLE', `provider ${name} failed: ${kind}`)
}
