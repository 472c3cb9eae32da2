import { allow, type Verdict } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation } from '@gatewright/host'
import { callerOf } from '@gatewright/host/internal'
import {
  cardChoice,
  cardWords,
  defaultChoice,
  denyCancel,
  endCardsOfKeys,
  endedCards,
  type CardChoice,
} from '../cards/ended-keys.ts'
import * as examples from './examples.ts'
import { ChangedKey, keyData, keyPaths } from './fields.ts'

type RevokeServices = Pick<HostServices, 'issuer' | 'clock' | 'db' | 'backend'>

/** `keys.revoke`: ends a key, keys below it and their sessions, and what the request says of the cards that they made or revealed. */
export function revokeKey(services: RevokeServices): Operation {
  return operation({
    surface: 'user',
    credential: 'session',
    topLevel: true,
    id: 'keys.revoke',
    title: 'Revoke an API key',
    details:
      'Ends its sessions, and the keys below it. `cards` says what happens to the cards that these keys made or revealed; `lockedCards` or `canceledCards` says to how many.',
    method: 'DELETE',
    limit: 'ending',
    paths: keyPaths('/{keyId}'),
    scopes: ['keys.write'],
    unknownMembers: 'deny',
    query: Type.Object({
      cards: cardChoice('Default: `lock` for a key that another key made, else `keep`'),
    }),
    response: ChangedKey,
    example: { response: { ...examples.revokedKey, lockedCards: 1 } },
    denies: [404],
    handle: ({ caller, params, query }) => revoke(services, caller, params['keyId'] as string, query.cards),
  })
}

/** Revokes a key for a caller, and then does what was chosen, or is the default, with its cards. */
export async function revoke(
  services: RevokeServices,
  caller: Access,
  keyId: string,
  chosen?: CardChoice,
): Promise<Verdict<Success>> {
  const denied = denyCancel(caller, chosen)
  if (denied) return denied
  const revoked = await services.issuer.revokeKey(callerOf(caller), keyId)
  if (!revoked.ok) return revoked
  const key = revoked.value
  const choice = chosen ?? defaultChoice(key)
  const { accountId } = key
  const ended = await endCardsOfKeys(services, { accountId, keyIds: [keyId] }, { choice, reason: 'user' })
  const response = await keyResponse(services, revoked, `The key is revoked. ${cardWords(choice, ended)}`)
  return response.ok
    ? allow({ ...response.value, data: { ...response.value.data, ...endedCards(choice, ended) } })
    : response
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
