import { allow, type Verdict } from '@gatewright/kernel'
import { isStorableText } from '@gatewright/kernel/internal'
import type { ApiKey } from '@gatewright/session-issuer'
import {
  CARD_CHOICES,
  defaultChoice,
  endCardsOfKeys,
  endedCards,
  type CardChoice,
} from '../modules/cards/ended-keys.ts'
import { describeKey } from '../modules/keys/key-output.ts'
import { freezeAccount, unfreezeAccount } from '../modules/users/freeze.ts'
import { deny, type OperatorDenial } from './codes.ts'
import type { OperatorServices } from './services.ts'

type IncidentServices = Pick<OperatorServices, 'sql' | 'clock' | 'issuer' | 'backend'>
type Body = Readonly<Record<string, unknown>>
type Response = Promise<Verdict<object, OperatorDenial>>

/** What an operator does in an incident, by the path of its endpoint: what the commands of these names do. */
export const incidentActions: Readonly<Record<string, (services: IncidentServices, body: Body) => Response>> =
  {
    'accounts/freeze': (services, body) => setFrozen(services, body, true),
    'accounts/unfreeze': (services, body) => setFrozen(services, body, false),
    'keys/pause': ({ issuer, clock }, body) =>
      onKey(body, async keyId => keyOf(await issuer.pauseKey('operator', keyId), clock.now())),
    'keys/resume': ({ issuer, clock }, body) =>
      onKey(body, async keyId => keyOf(await issuer.resumeKey('operator', keyId), clock.now())),
    'keys/revoke': (services, body) => onKey(body, keyId => revoke(services, keyId, body['cards'])),
  }

async function setFrozen({ sql, clock }: IncidentServices, { accountId }: Body, frozen: boolean): Response {
  if (!isId(accountId))
    return deny('invalid_request', 'accountId must be the id of an account', { field: 'accountId' })
  const change = frozen ? freezeAccount : unfreezeAccount
  const changed = await change(sql, accountId, clock.now())
  if (changed === undefined) return deny('not_found', 'No user account has this id.')
  return allow({ accountId, frozen })
}

async function revoke(
  { sql, issuer, backend, clock }: IncidentServices,
  keyId: string,
  cards: unknown,
): Response {
  const stated = CARD_CHOICES.find(each => each === cards)
  if (cards !== undefined && stated === undefined)
    return deny('invalid_request', `cards must be one of ${CARD_CHOICES.join(', ')}`, { field: 'cards' })
  const revoked = await issuer.revokeKey('operator', keyId)
  if (!revoked.ok) return noKey
  const key = revoked.value
  // The cards of a partner's key belong to many accounts: a command cancels them.
  const choice: CardChoice = key.surface === 'user' ? (stated ?? defaultChoice(key)) : 'keep'
  const of = { accountId: key.accountId, keyIds: [key.id] }
  const ended = await endCardsOfKeys({ db: sql, backend, clock }, of, { choice, reason: 'operator' })
  return allow({ key: shown(key, clock.now()), ...endedCards(choice, ended) })
}

const noKey = deny('not_found', 'No key that works has this id.')

function onKey({ keyId }: Body, act: (keyId: string) => Response): Response {
  if (isId(keyId)) return act(keyId)
  return Promise.resolve(deny('invalid_request', 'keyId must be the id of a key', { field: 'keyId' }))
}

function keyOf(changed: Verdict<ApiKey>, now: number): Verdict<object, OperatorDenial> {
  if (changed.ok) return allow({ key: shown(changed.value, now) })
  return changed.code === 'not_found' ? noKey : deny('invalid_state', changed.message)
}

const shown = (key: ApiKey, now: number): object => describeKey(key, now)

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 120 && isStorableText(value)
