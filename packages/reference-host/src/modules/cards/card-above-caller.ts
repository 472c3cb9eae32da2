import { createHash } from 'node:crypto'
import type { Rule } from '@gatewright/kernel'
import type { PolicyDocument } from '@gatewright/scope-guard'
import type { KeyLineage } from '@gatewright/session-issuer'
import type { Card } from './card.ts'

/** The operation that each payment by card is checked as. It has no route: a card network asks for it, not a client. */
export const PAYMENT_RULE: Rule = { operation: 'cards.authorize', allOf: [], spends: 'spend' }

/**
 * Lists every policy that binds a card: those that the key which made it carries now, and those that the making session brought. The
 * latter twice: under their own id, whose counters the session itself uses, and under an id that they share with equal policies of
 * other sessions of this key. So cards that one session may reveal because their policies are equal to its own share one cap.
 */
export function policiesOnCard(
  { keyLineage, sessionPolicies }: Pick<Card, 'keyLineage' | 'sessionPolicies'>,
  ofKey: readonly PolicyDocument[],
): readonly PolicyDocument[] {
  const shared = keyLineage ? sessionPolicies.map(policy => sharedPolicy(keyLineage, policy)) : []
  return [...ofKey, ...sessionPolicies, ...shared]
}

/** The policies of a session, and which of them belong to its key. */
export interface CallerPolicies {
  readonly keyLineage: KeyLineage
  /** What the key carries now. */
  readonly ofKey: readonly PolicyDocument[]
  /** What the session carries: what its key had when it was issued, and then what it brought. */
  readonly ofSession: readonly PolicyDocument[]
}

/** Lists the policies that a session brought beyond its key; also what the key had and has lost since the session was issued. */
export function policiesBeyondKey({ ofKey, ofSession }: CallerPolicies): readonly PolicyDocument[] {
  const ids = new Set(ofKey.map(({ id }) => id))
  return ofSession.filter(({ id }) => !ids.has(id))
}

/**
 * Lists the policies that must bind a card before a session may reveal or loosen it. A policy of the session's key is named by its own
 * id. A policy that the session brought is named by the id that it shares with equal policies of other sessions of this key.
 */
export function policiesAskedOfCard(caller: CallerPolicies): readonly PolicyDocument[] {
  const { keyLineage, ofKey, ofSession } = caller
  const ids = new Set(ofSession.map(({ id }) => id))
  // Of a key that was changed a moment ago the session carries old policies: they must not pass for policies that it brought.
  if (!ofKey.every(({ id }) => ids.has(id))) return ofSession
  const brought = new Set(policiesBeyondKey(caller))
  return ofSession.map(policy => (brought.has(policy) ? sharedPolicy(keyLineage, policy) : policy))
}

function sharedPolicy({ lineageId }: KeyLineage, { document }: PolicyDocument): PolicyDocument {
  const digest = createHash('sha256').update(canonical(document)).digest('base64url')
  return { id: `cards of sessions of ${lineageId} ${digest}`, document }
}

/** Writes a policy so that equal ones have equal texts. The order of members and entries means nothing, nor does a repeated entry. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(canonical))].sort().join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
  return `{${members.sort().join()}}`
}
