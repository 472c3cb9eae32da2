import { Fault, type Session, type Clock, type EpochMs } from '@gatewright/kernel'
import { sha256, utf8Length } from '@gatewright/kernel/internal/platform'
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

/**
 * Returns policies of a session beside those of its token. The counters of a policy belong to its `id`, so keep the id when
 * you change the document: with a new id its caps begin at zero.
 */
export type SessionPolicies = (
  session: Session,
) => readonly PolicyDocument[] | Promise<readonly PolicyDocument[]>

/**
 * The place of a compiled chain in the cache. Eviction empties the place, so a reference to it does not keep the chain in
 * memory.
 */
export interface ChainPlace {
  readonly key: string
  chain: Chain | undefined
  /** From this instant on the chain may be removed from the cache. */
  keptUntil: EpochMs
}

/** A compiled chain and its place in the cache. */
interface LoadedChain {
  readonly chain: Chain
  readonly place: ChainPlace
}

/** Makes the compiled chain of policies. Equal policies share one chain. */
export interface ChainLoader {
  /** Reads the policies of a session from both sources. Returns no promise where there is nothing to read. */
  load(session: Session): LoadedChain | Promise<LoadedChain>
  /** Returns the chain of a place. Undefined: it was evicted, so load it again. */
  chainAt(place: ChainPlace): Chain | undefined
  /** Compiles documents. Fault: `ERR_STORE_REPLY` if one is not a policy. */
  compile(policies: readonly PolicyDocument[]): Chain
}

/** Where the policies of a session are read. */
interface Sources {
  readonly policies: PolicySource
  readonly sessionPolicies: SessionPolicies | undefined
  readonly storeTimeoutMs: number
}

/** A stored policy document, with its id. Its counters belong to `counterOwner` of the id. */
export interface PolicyDocument {
  readonly id: string
  readonly document: unknown
}

/** The bounds of the cache of compiled chains. */
interface CacheOptions {
  readonly clock: Clock
  /** The maximum bytes of all chains together. */
  readonly bytes: number
  /** How long a chain is kept after it was last loaded or compiled, in ms. */
  readonly keptMs: number
}

/** How many chains, whose time has ended, one new chain removes at most. */
const MAX_SWEPT = 32

/** The chain of a session without policies. It takes no place in the cache. */
const EMPTY_CHAIN = compileChain([])
const EMPTY: LoadedChain = {
  chain: EMPTY_CHAIN,
  place: { key: '', chain: EMPTY_CHAIN, keptUntil: Infinity },
}

/**
 * Loads and compiles chains. Sessions with the same policy documents share one compiled chain. The cache is bounded by bytes; if it is
 * full, the least recently used chain is evicted. Chains whose time has ended are removed when a new one is added. A chain that is larger
 * than the whole cache is compiled each time.
 * Faults: `ERR_STORE_UNAVAILABLE` if a source throws, `ERR_STORE_REPLY` if a document is missing or is not a policy,
 * or if two different ones have one id.
 */
export function chainLoader(
  { policies: source, sessionPolicies, storeTimeoutMs: timeoutMs }: Sources,
  { clock, bytes, keptMs }: CacheOptions,
): ChainLoader {
  const dispose = (place: ChainPlace): void => {
    place.chain = undefined
  }
  const cache = new LRUCache<string, ChainPlace>({ maxSize: bytes, dispose })
  const sweep = (now: EpochMs): void => {
    let left = MAX_SWEPT
    for (const key of cache.rkeys()) {
      const entry = cache.peek(key)
      if (entry === undefined || now < entry.keptUntil || left-- === 0) return
      cache.delete(key)
    }
  }
  const compile = (policies: readonly PolicyDocument[]): LoadedChain => {
    if (policies.length === 0) return EMPTY
    const text = JSON.stringify(policies.map(({ id, document }) => [id, document]))
    const key = sha256(text)
    const now = clock.now()
    const known = cache.get(key)
    if (known?.chain) {
      known.keptUntil = now + keptMs
      return { chain: known.chain, place: known }
    }
    sweep(now)
    assertOneDocumentPerId(policies)
    const stored = policies.map(storedPolicy)
    const chain = compileChain(stored)
    const size = chainBytes(utf8Length(text), stored)
    const place = { key, chain: size > bytes ? undefined : chain, keptUntil: now + keptMs }
    if (place.chain) cache.set(key, place, { size })
    return { chain, place }
  }
  const read = async (session: Session): Promise<LoadedChain> => {
    const named = await namedPolicies(session.policyIds)
    if (!sessionPolicies) return compile(named)
    const added = await withinTime('sessionPolicies', timeoutMs, async () => sessionPolicies(session))
    if (!Array.isArray(added) || !added.every(hasId))
      throw new Fault('ERR_STORE_REPLY', 'sessionPolicies did not return a list of { id, document }')
    return compile([...named, ...added])
  }
  const namedPolicies = async (ids: readonly string[]): Promise<readonly PolicyDocument[]> => {
    if (ids.length === 0) return []
    const documents: unknown = await withinTime('policy source', timeoutMs, async () => source(ids))
    if (!Array.isArray(documents) || documents.length !== ids.length) {
      throw new Fault('ERR_STORE_REPLY', 'the policy source did not return one document per id')
    }
    return ids.map((id, index) => ({ id, document: documents[index] }))
  }
  return {
    compile: policies => compile(policies).chain,
    chainAt(place) {
      // Recording a use costs more than the rest, and matters only when chains may be evicted.
      if (cache.calculatedSize * 2 >= bytes) cache.get(place.key)
      return place.chain
    },
    load: session => (session.policyIds.length === 0 && !sessionPolicies ? EMPTY : read(session)),
  }
}

const hasId = (policy: Partial<PolicyDocument> | null): boolean =>
  typeof policy?.id === 'string' && policy.id !== ''

/**
 * Throws a fault if two different documents have one id: their counters would be one, and a chain has one policy of an id, so the other
 * would not bind.
 */
function assertOneDocumentPerId(policies: readonly PolicyDocument[]): void {
  const known = new Map<string, string>()
  for (const { id, document } of policies) {
    const text = JSON.stringify(document)
    if ((known.get(id) ?? text) !== text)
      throw new Fault('ERR_STORE_REPLY', `two different policies have the id ${id}: give each its own`)
    known.set(id, text)
  }
}

/** The approximate bytes of a compiled chain without policies. */
const CHAIN_BYTES = 3072
/** The approximate bytes that a compiled cap adds. */
const LIMIT_BYTES = 384
/** The approximate bytes that an entry of a list adds: its text, and its place in the lists and maps of its chain. */
const ENTRY_BYTES = 88

/** Estimates the memory of a compiled chain from the bytes of its documents, its limits and the entries of its lists. */
function chainBytes(documentBytes: number, policies: readonly StoredPolicy[]): number {
  let bytes = CHAIN_BYTES + 2 * documentBytes
  for (const { policy } of policies) {
    const { limits = [], denyOperations, allowOperations, allowedIps, payees, denyPayees } = policy
    const lists = [denyOperations, allowOperations, allowedIps, payees, denyPayees]
    const entries = lists.reduce((sum, list = []) => sum + list.length, 0)
    const named = limits.reduce((sum, { operations }) => sum + operations.length, 0)
    bytes += LIMIT_BYTES * (limits.length + 1) + ENTRY_BYTES * (entries + named)
  }
  return bytes
}

/** Reads a stored document. Fault: `ERR_STORE_REPLY` if it is not a policy. */
export function storedPolicy({ id, document }: PolicyDocument): StoredPolicy {
  const parsed = readStoredPolicy(document)
  if (!parsed.ok) throw new Fault('ERR_STORE_REPLY', `policy ${id} cannot be read: ${parsed.message}`)
  return { id, policy: parsed.value }
}
