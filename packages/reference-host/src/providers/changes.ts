import type { EpochMs } from '@gatewright/kernel'
import type { Restore, RestoreFindings } from '@gatewright/host'
import { SANDBOX_PROVIDER } from './sandbox.ts'

/** A page of what a provider has received or changed. */
export interface ChangePage<T> {
  readonly changes: readonly T[]
  /** Continues the list; null: this is its end. */
  readonly next: string | null
}

/** A provider that may be able to list what has changed. */
export interface ListingProvider<T> {
  readonly name: string
  changedSince?(since: EpochMs, after: string | null, signal: AbortSignal): Promise<ChangePage<T>>
}

/** The outcome of a change: the database has taken it, a person must look at it, or undefined if it was known. */
type Outcome = 'applied' | { readonly difference: string } | undefined

/** The clocks of providers and the time of a restore need not agree better. What is known already is ignored. */
const MARGIN_MS = 300_000
const noSignal = new AbortController().signal

/**
 * Reads everything that a provider has changed since a restore, and collects the differences that `apply` finds. A provider that cannot be asked is itself a difference.
 */
export async function compareWithProvider<T>(
  what: string,
  provider: ListingProvider<T> | undefined,
  { since }: Restore,
  apply: (change: T, provider: string) => Promise<Outcome>,
): Promise<RestoreFindings> {
  // The built-in one remembers in the database that was restored.
  if (!provider || provider.name === SANDBOX_PROVIDER) return { done: [], differences: [] }
  const { name } = provider
  if (!provider.changedSince)
    return {
      done: [],
      differences: [`${what}: provider ${name} cannot list what has changed: compare its own records`],
    }
  const differences: string[] = []
  let [read, applied] = [0, 0]
  let after: string | null = null
  try {
    do {
      const page: ChangePage<T> = await provider.changedSince(since - MARGIN_MS, after, noSignal)
      for (const change of page.changes) {
        read += 1
        const outcome = await apply(change, name)
        if (outcome === 'applied') applied += 1
        else if (outcome) differences.push(outcome.difference)
      }
      after = page.next
    } while (after !== null)
  } catch (error) {
    differences.push(`${what}: ${(error as Error).message}: run npx gatewright restored again`)
  }
  return {
    done: [`${what}: ${read} of provider ${name} compared, ${applied} brought up to date.`],
    differences,
  }
}
