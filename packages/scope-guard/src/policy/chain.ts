import { Fault } from '@gatewright/kernel'
import { compileChain, type Chain } from './compile.ts'
import { parsePolicy } from './parse.ts'
import type { StoredPolicy } from './policy.ts'

/**
 * Reads policy documents by id, in the order of the ids. One that does not exist is left out or undefined, and
 * makes the guard throw: a session names it, so the store has lost something.
 */
export type PolicySource = (ids: readonly string[]) => Promise<readonly unknown[]>

const EMPTY = compileChain([])

/**
 * Loads and compiles a chain. Faults: `ERR_STORE_UNAVAILABLE` when the source throws, `ERR_STORE_REPLY` when a
 * document is missing or is not a policy. A chain that cannot be read blocks everything.
 */
export async function loadChain(ids: readonly string[], source: PolicySource): Promise<Chain> {
  if (ids.length === 0) return EMPTY
  let documents: readonly unknown[]
  try {
    documents = await source(ids)
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('ERR_STORE_UNAVAILABLE', 'policies cannot be read', { cause })
  }
  if (!Array.isArray(documents) || documents.length !== ids.length) {
    throw new Fault('ERR_STORE_REPLY', 'the policy source did not return one document per id')
  }
  return compileChain(ids.map((id, index) => stored(id, documents[index])))
}

function stored(id: string, document: unknown): StoredPolicy {
  const parsed = parsePolicy(document)
  if (!parsed.ok) throw new Fault('ERR_STORE_REPLY', `policy ${id} cannot be read: ${parsed.message}`)
  return { id, policy: parsed.value }
}
