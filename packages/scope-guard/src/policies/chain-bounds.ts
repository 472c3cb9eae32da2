import { allow, type Denial, type Verdict } from '@gatewright/kernel'
import { deny } from '../codes.ts'
import { indexByPattern, listCaps } from './caps.ts'
import { storedPolicy, type PolicyDocument } from './chain-loader.ts'
import { patternsOf } from './operation-matcher.ts'
import { jsonBytes } from './parse.ts'
import type { StoredPolicy } from './policy.ts'

/** The most bytes that the policies of a chain may have together, in UTF-8 of their JSON. */
const MAX_BYTES = 32_768
/** The most limits that the policies of a chain may have together. */
const MAX_LIMITS = 64
/** The most counters that a call of one operation may add to. */
const MAX_COUNTERS = 32

/**
 * Decides whether policies may form a chain: at most 32,768 bytes of JSON in UTF-8, 64 limits, and 32 counters for a call of
 * any one operation, counters of money included. A policy that is in the chain twice counts once. Call it with all documents of
 * a chain whenever a policy is added to it: when a key is created, when a session is issued, and when a key is changed, then
 * also for the chains of the keys below that key. The guard itself applies no bound to chains that are stored. Denial:
 * `invalid_request` with the field `policy`; its message names the bound. Fault: `ERR_STORE_REPLY` for a document that is not a
 * policy; give a new one to `parsePolicy` first.
 */
export function checkPolicyChain(
  chain: readonly PolicyDocument[],
): Verdict<undefined, Denial<'invalid_request'>> {
  const policies = [...new Map(chain.map(policy => [policy.id, policy])).values()].map(storedPolicy)
  const bytes = policies.reduce((sum, { policy }) => sum + jsonBytes(policy), 0)
  if (bytes > MAX_BYTES) return tooMuch(`at most ${MAX_BYTES} bytes of JSON`, bytes)
  const limits = policies.reduce((sum, { policy }) => sum + (policy.limits?.length ?? 0), 0)
  if (limits > MAX_LIMITS) return tooMuch(`at most ${MAX_LIMITS} limits`, limits)
  const counters = maxCounters(policies)
  return counters > MAX_COUNTERS
    ? tooMuch(`caps that one call adds to at most ${MAX_COUNTERS} counters of`, counters)
    : allow(undefined)
}

/** Returns the largest number of counters that a call of any one operation adds to. */
function maxCounters(policies: readonly StoredPolicy[]): number {
  const caps = listCaps(policies).filter(({ window }) => window !== 'operation')
  const byPattern = indexByPattern(caps)
  // A withdrawal counts for every cap on money. An operation that no limit names has the caps of its longest `tag.*`, so it
  // needs no check of its own.
  const onAllMoney = caps.filter(({ operations }) => operations === undefined).length
  const lastCountedFor: string[] = []
  let most = onAllMoney
  for (const operation of byPattern.keys()) {
    let counters = onAllMoney
    for (const pattern of patternsOf(operation)) {
      for (const index of byPattern.get(pattern) ?? []) {
        if (lastCountedFor[index] !== operation) counters++
        lastCountedFor[index] = operation
      }
    }
    most = Math.max(most, counters)
  }
  return most
}

function tooMuch(bound: string, got: number): Denial<'invalid_request'> {
  const message = `policy and the policies it joins must have ${bound} together, got ${got}: send a smaller policy`
  return deny('invalid_request', message, { field: 'policy' })
}
