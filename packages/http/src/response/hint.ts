import type { Denial } from '@gatewright/kernel'
import { environment, printError } from '@gatewright/kernel/platform'

/** Shows a developer the cause of a denial, which the response does not contain. */
export type Hint = (operation: string | undefined, denial: Pick<Denial, 'code' | 'status' | 'reason'>) => void

/** How many causes are printed at most: a client must not be able to fill a log. */
const MOST = 100

/** Prints each cause once, to stderr, where `NODE_ENV` is `development`; undefined elsewhere. */
export function developmentHint(): Hint | undefined {
  if (environment() !== 'development') return undefined
  const printed = new Set<string>()
  return (operation = 'a request', { code, status, reason }) => {
    if (reason === undefined || printed.size === MOST) return
    const line = `gatewright: ${operation} got ${status} ${code}: ${reason} (printed once, in development)`
    if (printed.has(line)) return
    printed.add(line)
    printError(line)
  }
}
