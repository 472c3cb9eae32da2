import { utf8Length } from '@gatewright/kernel/internal/platform'
import { deny, type IssuerDenial } from '../codes.ts'
import { MAX_CHAIN_BYTES, MAX_POLICY_BYTES } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { PolicyRecord } from '../storage/port.ts'

/**
 * Decides whether chains stay within 32 KiB and `checkPolicyChain` after policies are added. `given` are documents
 * that the caller has read or received; all others are read. Call it after the keys of the account are loaded: a document never
 * changes, so a commit against that revision writes only chains that were checked. Denial: `invalid_request` with the field
 * `policy`.
 */
export type CheckChains = (
  chains: readonly (readonly string[])[],
  given: readonly PolicyRecord[],
) => Promise<IssuerDenial | undefined>

/** Makes the check of chains. `read` reads documents in the order of their ids. */
export function createChainCheck(
  { checkPolicyChain }: CheckedOptions,
  read: (ids: readonly string[]) => Promise<readonly unknown[]>,
): CheckChains {
  return async (chains, given) => {
    const documents = new Map(given.map(({ id, document }) => [id, document]))
    const others = [...new Set(chains.flat())].filter(id => !documents.has(id))
    for (const [index, document] of (await read(others)).entries()) {
      documents.set(others[index] as string, document)
    }
    const distinct = new Map(chains.map(chain => [chain.join(' '), chain]))
    for (const chain of distinct.values()) {
      const policies = chain.map(id => ({ id, document: documents.get(id) }))
      const denial = denyLargeChain(policies)
      if (denial) return denial
      const checked = checkPolicyChain(policies)
      if (!checked.ok) return checked
    }
    return undefined
  }
}

function denyLargeChain(chain: readonly PolicyRecord[]): IssuerDenial | undefined {
  const bytes = chain.reduce((sum, { document }) => sum + jsonBytes(document), 0)
  if (bytes <= MAX_CHAIN_BYTES) return undefined
  const message = `policy and the policies it joins must have at most ${MAX_CHAIN_BYTES} bytes of JSON together, got ${bytes}: send a smaller policy`
  return deny('invalid_request', message, { field: 'policy' })
}

/** Denies a new policy that is too large, without a storage call. */
export function denyLargePolicy(policy: unknown): IssuerDenial | undefined {
  if (policy === undefined) return undefined
  const bytes = jsonBytes(policy)
  if (bytes <= MAX_POLICY_BYTES) return undefined
  const message = `policy must have at most ${MAX_POLICY_BYTES} bytes as JSON, got ${bytes}`
  return deny('invalid_request', message, { field: 'policy' })
}

/** The bytes of a document as JSON in UTF-8. */
export const jsonBytes = (document: unknown): number => utf8Length(JSON.stringify(document))
