const KEY_POLICY = /^(pol_[0-9A-Za-z]{16})_[0-9A-Za-z]{8}$/

/**
 * Makes the id of a policy of a key: `pol_`, the id of the first key of the key's lineage (16 base62 characters), `_`, and 8
 * random base62 characters that distinguish it from earlier policies of the same key.
 */
export const keyPolicyId = (lineageId: string, random: string): string => `pol_${lineageId}_${random}`

/**
 * Returns the owner of a policy's counters, which is part of their names. All policies of one key share their counters, so that
 * replacing a policy resets no cap (decision 0052). A policy with any other id has its own counters.
 */
export const counterOwner = (policyId: string): string => KEY_POLICY.exec(policyId)?.[1] ?? policyId
