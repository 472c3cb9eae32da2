import { docsLink, type Denial } from '@gatewright/kernel'
import { printError } from '@gatewright/kernel/platform'

/** Tells the operator, once per cause, what neither a response nor a failure says. */
export interface Hints {
  /** Why a request was denied: its `reason`, which the response does not contain. */
  denied(operation: string | undefined, denial: Pick<Denial, 'code' | 'status' | 'reason'>): void
  /** That the outcome of a run is unknown, so that its key is locked. Once per operation. */
  unknownOutcome(operation: string, effectId: string, cause: string): void
}

/** How many causes are written at most: a client must not be able to fill a log. */
const MOST = 100

/** Makes the hints of a gate. Each cause is written once per process, as one line. */
export function createHints(write: (line: string) => void = printError): Hints {
  const causes = new Set<string>()
  const operations = new Set<string>()
  const writeOnce = (written: Set<string>, cause: string, line: string): void => {
    if (written.has(cause) || written.size === MOST) return
    written.add(cause)
    write(line)
  }
  return {
    denied(operation = 'a request', { code, status, reason }) {
      if (reason === undefined) return
      const line = `gatewright: ${operation} got ${status} ${code}: ${reason} (logged once)`
      writeOnce(causes, line, line)
    },
    unknownOutcome: (operation, effectId, cause) =>
      writeOnce(
        operations,
        operation,
        `gatewright: ${operation}: the outcome of the run ${effectId} is unknown, so its key is locked: ${cause}. If it was thrown before any effect, use nothingHappened or noEffectStatuses: ${docsLink('idempotency.md#a-run-of-unknown-outcome')} (logged once per operation)`,
      ),
  }
}
