import { createHash } from 'node:crypto'
import type { Rule } from '@gatewright/kernel'
import type { PolicyDocument } from '@gatewright/scope-guard'
import type { KeyLineage } from '@gatewright/session-issuer/internal'
import type { Card } from './card.ts'

/** The rule by which each payment by card is checked. The operation has no route, because card networks request payments. */
export const PAYMENT_RULE: Rule = { operation: 'cards.authorize', allOf: [], spends: 'spend' }

/**
 * Lists every policy that binds a card: the current policies of the key that made it, and copies of the further policies of the
 * session that made it. Each copy is listed twice: under its own id, whose counters the session also uses, and under an id that
 * it shares with equal policies of other sessions of the key. So all cards whose policies are equal, and which a session may
 * therefore reveal, share one cap.
 */
export function policiesOnCard(
  { keyLineage, sessionPolicies }: Pick<Card, 'keyLineage' | 'sessionPolicies'>,
  ofKey: readonly PolicyDocument[],
): readonly PolicyDocument[] {
  const shared = keyLineage ? sessionPolicies.map(policy => sharedPolicy(keyLineage, policy)) : []
  return [...ofKey, ...sessionPolicies, ...shared]
}

/** The policies of a session and of its key. */
export interface CallerPolicies {
  readonly keyLineage: KeyLineage
  /** The current policies of the key. */
  readonly ofKey: readonly PolicyDocument[]
  /** The policies of the session: those that its key had when it was issued, then its own. */
  readonly ofSession: readonly PolicyDocument[]
}

/** Lists the policies of a session that its key does not have; also those that the key has lost since the session was issued. */
export function policiesBeyondKey({ ofKey, ofSession }: CallerPolicies): readonly PolicyDocument[] {
  const ids = new Set(ofKey.map(({ id }) => id))
  return ofSession.filter(({ id }) => !ids.has(id))
}

/**
 * Lists the policies that must bind a card so that a session may reveal or loosen it. A policy of the session's key has its own
 * id. A policy of the session only has the id that it shares with equal policies of other sessions of this key.
 */
export function policiesAskedOfCard(caller: CallerPolicies): readonly PolicyDocument[] {
  const { keyLineage, ofKey, ofSession } = caller
  const ids = new Set(ofSession.map(({ id }) => id))
  // If the key has just changed, the session still has old policies of the key. They must not count as the session's own.
  if (!ofKey.every(({ id }) => ids.has(id))) return ofSession
  const brought = new Set(policiesBeyondKey(caller))
  return ofSession.map(policy => (brought.has(policy) ? sharedPolicy(keyLineage, policy) : policy))
}

function sharedPolicy({ lineageId }: KeyLineage, { document }: PolicyDocument): PolicyDocument {
  const digest = createHash('sha256').update(canonical(document)).digest('base64url')
  return { id: `cards of sessions of ${lineageId} ${digest}`, document }
}

/**
 * Serializes a policy so that equal policies have equal texts. The order of members and entries, and repeated entries, do not
 * matter.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(canonical))].sort().join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
  return `{${members.sort().join()}}`
}
