import { allow, Fault, type Session, type Verdict } from '@gatewright/kernel'
import { findLooserMember } from '@gatewright/scope-guard/internal'
import type { PolicyDocument } from '@gatewright/scope-guard'
import type { Issuer } from '@gatewright/session-issuer'
import type { KeyLineage } from '@gatewright/session-issuer/internal'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import {
  PAYMENT_RULE,
  policiesAskedOfCard,
  policiesBeyondKey,
  policiesOnCard,
  type CallerPolicies,
} from './card-above-caller.ts'
import type { Card } from './card.ts'
import type { CardKeyPolicies } from './key-policies.ts'

/**
 * The policies that bind a card which a session makes: those that its key has at any time, and copies of the other policies of
 * the session.
 */
export interface CardOrigin {
  readonly keyLineage: KeyLineage
  readonly sessionPolicies: readonly PolicyDocument[]
}

/** The services that read and compare the policies of callers and cards. */
interface CallerServices {
  readonly issuer: Pick<Issuer, 'lineageOf' | 'lineagePolicies' | 'policies'>
  readonly cardKeyPolicies: Pick<CardKeyPolicies, 'read'>
}

async function policiesOf(
  issuer: CallerServices['issuer'],
  { keyId, policyIds }: Session,
): Promise<CallerPolicies> {
  const keyLineage = await issuer.lineageOf(keyId)
  const ofKey = keyLineage && (await issuer.lineagePolicies(keyLineage))
  if (!ofKey) throw new Fault('ERR_STORE_REPLY', 'the key of a live session is not stored')
  const documents = policyIds.length === 0 ? [] : await issuer.policies(policyIds)
  return { keyLineage, ofKey, ofSession: policyIds.map((id, index) => ({ id, document: documents[index] })) }
}

/** Reads the policies that bind the cards which a session makes. Do not call it in a transaction: keys can be in another store. */
export async function originOf(issuer: CallerServices['issuer'], session: Session): Promise<CardOrigin> {
  const caller = await policiesOf(issuer, session)
  return { keyLineage: caller.keyLineage, sessionPolicies: policiesBeyondKey(caller) }
}

/**
 * Decides whether a session may reveal or loosen a card: only if each policy of the session that blocks or counts payments by
 * card binds the card, too, at least as tightly and on the same counters. If the key of a card is not stored, only the policies
 * of its session bind it. Do not call it in a transaction. Denial: `policy_blocked` with the rule `card_above_caller`.
 */
export async function checkBelowCaller(
  { issuer, cardKeyPolicies }: CallerServices,
  session: Session,
  card: Pick<Card, 'keyLineage' | 'sessionPolicies'>,
): Promise<Verdict<undefined, HostDenial>> {
  if (session.policyIds.length === 0) return allow(undefined)
  const asked = policiesAskedOfCard(await policiesOf(issuer, session))
  const ofKey = card.keyLineage ? await cardKeyPolicies.read(card.keyLineage) : undefined
  const missing = findLooserMember(policiesOnCard(card, ofKey ?? []), asked, PAYMENT_RULE)
  if (missing === undefined) return allow(undefined)
  return deny(
    'policy_blocked',
    `${missing} of this session does not bind the card: use the key that made the card, or a session without it`,
    {
      details: { rule: 'card_above_caller' },
    },
  )
}
