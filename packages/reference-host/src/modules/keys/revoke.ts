import { allow, type Verdict } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation } from '@gatewright/host'
import { callerOf } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import { cancelCardsOf, lineagesFrom } from '../cards/cancel.ts'
import * as examples from './examples.ts'
import { keyData, keyPaths, KeySchema } from './fields.ts'

/** The summary of a response to a revocation. */
export const REVOKED = 'The key is revoked.'

/** `keys.revoke`: ends a key and its sessions, and if requested cancels the cards that it made. */
export function revokeKey(services: Pick<HostServices, 'issuer' | 'clock' | 'db'>): Operation {
  return operation({
    surface: 'user',
    credential: 'session',
    topLevel: true,
    id: 'keys.revoke',
    title: 'Revoke an API key',
    details: 'Ends its sessions. `cards=cancel` also cancels the cards of it and of keys below it.',
    method: 'DELETE',
    limit: 'ending',
    paths: keyPaths('/{keyId}'),
    scopes: ['keys.write'],
    unknownMembers: 'deny',
    query: Type.Object({
      cards: Type.Optional(
        Type.Literal('cancel', {
          description: 'Also cancels the cards that it made. Needs the scope `cards.write`',
          expected: 'must be "cancel", once, or absent',
        }),
      ),
    }),
    response: KeySchema,
    example: { response: examples.revokedKey },
    denies: [404],
    async handle({ caller, params, query }) {
      const keyId = params['keyId'] as string
      const cards = query.cards === undefined ? undefined : await cardsToCancel(services, caller, keyId)
      if (cards?.ok === false) return cards
      const revoked = await services.issuer.revokeKey(callerOf(caller), keyId)
      if (revoked.ok) await cards?.value()
      return keyResponse(services, revoked, REVOKED)
    },
  })
}

/**
 * Reads which keys' cards a revocation cancels: afterwards the caller may have ended. Returns the function that cancels the
 * cards.
 */
async function cardsToCancel(
  { issuer, clock, db }: Pick<HostServices, 'issuer' | 'clock' | 'db'>,
  caller: Access,
  keyId: string,
): Promise<Verdict<() => Promise<unknown>>> {
  if (!caller.session.scopes.includes('cards.write'))
    return deny('insufficient_scope', 'cards=cancel needs the scope cards.write', { field: 'cards' })
  const visible = await issuer.visibleKeys(callerOf(caller))
  if (!visible.ok) return visible
  const lineages = lineagesFrom(visible.value, keyId)
  return allow(() => cancelCardsOf(db, lineages, { reason: 'user', now: clock.now() }))
}

/** Responds with a changed or revoked key. */
export async function keyResponse(
  { issuer }: Pick<HostServices, 'issuer'>,
  changed: Verdict<ApiKey>,
  summary: string,
): Promise<Verdict<Success>> {
  if (!changed.ok) return changed
  const key = changed.value
  const policies = await issuer.policies(key.policyIds.slice(key.inheritedPolicies))
  return allow({ data: keyData(key, policies), summary })
}
