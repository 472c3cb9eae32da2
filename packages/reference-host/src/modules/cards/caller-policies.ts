import { allow, type Session, type Verdict } from '@gatewright/kernel'
import type { PolicyDocument } from '@gatewright/scope-guard'
import type { Issuer, KeyLineage } from '@gatewright/session-issuer'
import { Fault } from '@gatewright/kernel'
import { deny, type HostDenial } from '../../http/codes.ts'
import { cardBindsCaller, hasMoneyMember } from './card-above-caller.ts'
import type { Card } from './card.ts'
import type { CardKeyPolicies } from './key-policies.ts'

/** What binds a card that a session makes: what its key carries at any time, and copies of the other policies of the session. */
export interface CardOrigin {
  readonly keyLineage: KeyLineage
  readonly sessionPolicies: readonly PolicyDocument[]
}

async function documentsOf(issuer: Issuer, ids: readonly string[]): Promise<PolicyDocument[]> {
  const documents = ids.length === 0 ? [] : await issuer.policies(ids)
  return ids.map((id, index) => ({ id, document: documents[index] }))
}

/** Reads what binds the cards that a session makes. Not inside a transaction: keys can be in another store. */
export async function originOf(issuer: Issuer, { keyId, policyIds }: Session): Promise<CardOrigin> {
  const keyLineage = await issuer.lineageOf(keyId)
  const ofKey = keyLineage && (await issuer.lineagePolicies(keyLineage))
  if (!ofKey) throw new Fault('ERR_STORE_REPLY', 'the key of a live session is not stored')
  const beyond = policyIds.filter(id => !ofKey.some(policy => policy.id === id))
  return { keyLineage, sessionPolicies: await documentsOf(issuer, beyond) }
}

/** Reads every policy that binds a card now. A key that is not known any more binds by nothing here. */
async function policiesOf(keyPolicies: CardKeyPolicies, card: Card): Promise<readonly PolicyDocument[]> {
  const ofKey = card.keyLineage ? await keyPolicies.read(card.keyLineage) : undefined
  return [...(ofKey ?? []), ...card.sessionPolicies]
}

/**
 * Decides whether a session may reveal or loosen a card: only if no cap of the session is missing on the card. Not inside a transaction.
 * Denial: `policy_blocked` with the rule `card_above_caller`.
 */
export async function checkBelowCaller(
  { issuer, cardKeyPolicies }: { readonly issuer: Issuer; readonly cardKeyPolicies: CardKeyPolicies },
  session: Session,
  card: Card,
): Promise<Verdict<undefined, HostDenial>> {
  const callers = (await documentsOf(issuer, session.policyIds)).filter(hasMoneyMember)
  if (callers.length === 0 || cardBindsCaller(callers, await policiesOf(cardKeyPolicies, card)))
    return allow(undefined)
  return deny(
    'policy_blocked',
    'the card is not bound by every cap of this session: use the key that made it',
    {
      details: { rule: 'card_above_caller' },
    },
  )
}
