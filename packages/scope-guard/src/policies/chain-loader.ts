import { Fault } from '@gatewright/kernel'
import { sha256 } from '@gatewright/kernel/platform'
import { LRUCache } from '#platform/lru'
import { withinTime } from '../timeout.ts'
import { compileChain, type Chain } from './chain.ts'
import { readStoredPolicy } from './parse.ts'
import type { StoredPolicy } from './policy.ts'

/**
 * Reads policy documents by id, in the order of the ids. Return undefined for a document that does not exist, or leave
 * it out. The guard then throws a fault: a session names the policy, so the store has lost it.
 */
export type PolicySource = (ids: readonly string[]) => Promise<readonly unknown[]>

/** Makes the compiled chain of policies. Equal policies share one chain. */
export interface ChainLoader {
  /** Reads the policies of a session from the source. */
  load(ids: readonly string[]): Promise<Chain>
  /** The chain of a session without policies. */
  readonly empty: Chain
  /** Compiles given documents. Fault: `ERR_STORE_REPLY` if one is not a policy. */
  compile(policies: readonly PolicyDocument[]): Chain
}

/** A stored policy document, with its id. Its counters belong to `counterOwner` of the id. */
export interface PolicyDocument {
  readonly id: string
  readonly document: unknown
}

/** How many compiled chains are kept for other sessions with the same policies. */
const MAX_CHAINS = 1000

const EMPTY = compileChain([])

/**
 * Loads and compiles chains. Sessions with the same policy documents share one compiled chain.
 * Faults: `ERR_STORE_UNAVAILABLE` if the source throws, `ERR_STORE_REPLY` if a document is missing or is not a policy.
 */
export function chainLoader(source: PolicySource, timeoutMs: number): ChainLoader {
  const compiled = new LRUCache<string, Chain>({ maxSize: MAX_CHAINS })
  const compile: ChainLoader['compile'] = policies => {
    const digest = sha256(JSON.stringify(policies.map(({ id, document }) => [id, document])))
    let chain = compiled.get(digest)
    if (!chain) {
      chain = compileChain(policies.map(storedPolicy))
      compiled.set(digest, chain, { size: 1 })
    }
    return chain
  }
  return {
    empty: EMPTY,
    compile,
    async load(ids) {
      if (ids.length === 0) return EMPTY
      const documents: unknown = await withinTime('policy source', timeoutMs, async () => source(ids))
      if (!Array.isArray(documents) || documents.length !== ids.length) {
        throw new Fault('ERR_STORE_REPLY', 'the policy source did not return one document per id')
      }
      return compile(ids.map((id, index) => ({ id, document: documents[index] })))
    },
  }
}

/** Reads a stored document. Fault: `ERR_STORE_REPLY` if it is not a policy. */
export function storedPolicy({ id, document }: PolicyDocument): StoredPolicy {
  const parsed = readStoredPolicy(document)
  if (!parsed.ok) throw new Fault('ERR_STORE_REPLY', `policy ${id} cannot be read: ${parsed.message}`)
  return { id, policy: parsed.value }
}
