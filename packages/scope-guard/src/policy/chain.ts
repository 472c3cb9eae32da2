import { hash } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import { LRUCache } from 'lru-cache'
import { withinTime } from '../timeout.ts'
import { compileChain, type Chain } from './compile.ts'
import { parsePolicy } from './parse.ts'
import type { StoredPolicy } from './policy.ts'

/**
 * Reads policy documents by id, in the order of the ids. One that does not exist is left out or undefined, and
 * makes the guard throw: a session names it, so the store has lost something.
 */
export type PolicySource = (ids: readonly string[]) => Promise<readonly unknown[]>

/** Loads the compiled chain of a session. */
export type ChainLoader = (ids: readonly string[]) => Promise<Chain>

/** Most compiled chains kept for other sessions with the same policies. */
const SHARED = 1000

const EMPTY = compileChain([])

/**
 * Loads and compiles chains; sessions under the same documents share one. Faults: `ERR_STORE_UNAVAILABLE` when
 * the source throws, `ERR_STORE_REPLY` when a document is missing or is not a policy. A chain that cannot be
 * read blocks everything.
 */
export function chainLoader(source: PolicySource, timeoutMs: number): ChainLoader {
  const compiled = new LRUCache<string, Chain>({ max: SHARED })
  return async ids => {
    if (ids.length === 0) return EMPTY
    const documents: unknown = await withinTime('policy source', timeoutMs, async () => source(ids))
    if (!Array.isArray(documents) || documents.length !== ids.length) {
      throw new Fault('ERR_STORE_REPLY', 'the policy source did not return one document per id')
    }
    const text = hash('sha256', JSON.stringify([ids, documents]))
    let chain = compiled.get(text)
    if (!chain) {
      chain = compileChain(ids.map((id, index) => stored(id, documents[index])))
      compiled.set(text, chain)
    }
    return chain
  }
}

function stored(id: string, document: unknown): StoredPolicy {
  const parsed = parsePolicy(document)
  if (!parsed.ok) throw new Fault('ERR_STORE_REPLY', `policy ${id} cannot be read: ${parsed.message}`)
  return { id, policy: parsed.value }
}
