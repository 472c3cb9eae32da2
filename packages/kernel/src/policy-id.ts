const KEY_POLICY = /^(pol_[0-9A-Za-z]{16})_[0-9A-Za-z]{8}$/

/**
 * Makes the id of a policy that a key is given: `pol_`, the id of the first key of its lineage (16 base62 characters), `_`, and 8
 * random base62 characters that distinguish it from the policies which the same key had before.
 */
export const keyPolicyId = (lineageId: string, random: string): string => `pol_${lineageId}_${random}`

/**
 * Returns what the counters of a policy are named after. All policies that one key is given share their counters, so that replacing a
 * policy resets no cap (decision 0052). Any other id has counters of its own.
 */
export const counterOwner = (policyId: string): string => KEY_POLICY.exec(policyId)?.[1] ?? policyId
