import { keyDigest } from '@gatewright/kernel'
import type { StoredPolicy } from './policy.ts'

/** 132 bits, so that nobody who writes policies finds two with one revision. */
const CHARACTERS = 22

/**
 * Computes the revision of policies that are sorted by id: the same text for the same ids with the same members, whatever the
 * order of members. The order of entries of a list counts. 22 characters of the base64url of a SHA-256.
 */
export function policyRevision(policies: readonly StoredPolicy[]): string {
  const text = JSON.stringify(
    policies.map(({ id, policy }) => [id, policy]),
    (_, value: unknown) => sortedMembers(value),
  )
  return keyDigest(text).slice(0, CHARACTERS)
}

function sortedMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
