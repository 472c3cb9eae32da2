import { allow, type Verdict } from '@gatewright/kernel'
import { isStorableText } from '@gatewright/kernel/internal'
import { operatorActions } from '@gatewright/host/internal'
import { isNote, LONGEST_NOTE } from '@gatewright/idempotency-store/internal'
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

/** Who does something in an incident, and why. It is kept with what was done. */
interface Note {
  readonly by: string
  readonly reason: string
}

/**
 * What an operator does in an incident, by the path of its endpoint: what the commands of these names do. Each needs `by` and `reason`, which `npx gatewright
 * audit operator` prints.
 */
export const incidentActions: Readonly<Record<string, (services: IncidentServices, body: Body) => Response>> =
  {
    'accounts/freeze': noted((services, body, note) => setFrozen(services, body, { note, frozen: true })),
    'accounts/unfreeze': noted((services, body, note) => setFrozen(services, body, { note, frozen: false })),
    'keys/pause': noted((services, body, note) =>
      onKey(body, async keyId => {
        const paused = await services.issuer.pauseKey('operator', keyId)
        return keyOf(services, paused, { command: 'keys pause', note })
      }),
    ),
    'keys/resume': noted((services, body, note) =>
      onKey(body, async keyId => {
        const resumed = await services.issuer.resumeKey('operator', keyId)
        return keyOf(services, resumed, { command: 'keys resume', note })
      }),
    ),
    'keys/revoke': noted((services, body, note) =>
      onKey(body, keyId => revoke(services, keyId, { cards: body['cards'], note })),
    ),
  }

/** Denies a request that does not say who does it and why. */
function noted(
  act: (services: IncidentServices, body: Body, note: Note) => Response,
): (services: IncidentServices, body: Body) => Response {
  return async (services, body) => {
    const { by, reason } = body
    if (!isNote('by', by)) return denyNote('by')
    if (!isNote('reason', reason)) return denyNote('reason')
    return act(services, body, { by: oneLine(by), reason: oneLine(reason) })
  }
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

/** Denies a text of an operator that is missing or too long. */
export const denyNote = (field: keyof Note): OperatorDenial =>
  deny('invalid_request', `${field} must be a text of 1 to ${LONGEST_NOTE[field]} characters`, { field })

const noteWords = ({ by, reason }: Note): string => `by ${by}: ${reason}`

async function setFrozen(
  { sql, clock }: IncidentServices,
  { accountId }: Body,
  { frozen, note }: { readonly frozen: boolean; readonly note: Note },
): Response {
  if (!isId(accountId))
    return deny('invalid_request', 'accountId must be the id of an account', { field: 'accountId' })
  const change = frozen ? freezeAccount : unfreezeAccount
  const changed = await change(sql, accountId, { now: clock.now(), note: noteWords(note) })
  if (changed === undefined) return deny('not_found', 'No user account has this id.')
  return allow({ accountId, frozen })
}

async function revoke(
  services: IncidentServices,
  keyId: string,
  { cards, note }: { readonly cards: unknown; readonly note: Note },
): Response {
  const { sql, issuer, backend, clock } = services
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
  await record(services, key, { command: 'keys revoke', note })
  return allow({ key: shown(key, clock.now()), ...endedCards(choice, ended) })
}

const noKey = deny('not_found', 'No key that works has this id.')

function onKey({ keyId }: Body, act: (keyId: string) => Response): Response {
  if (isId(keyId)) return act(keyId)
  return Promise.resolve(deny('invalid_request', 'keyId must be the id of a key', { field: 'keyId' }))
}

/** What was done to a key. */
interface Done {
  readonly command: string
  readonly note: Note
}

async function keyOf(services: IncidentServices, changed: Verdict<ApiKey>, done: Done): Response {
  if (!changed.ok) return changed.code === 'not_found' ? noKey : deny('invalid_state', changed.message)
  await record(services, changed.value, done)
  return allow({ key: shown(changed.value, services.clock.now()) })
}

/** Records who did something to a key, and why. The audit log of the account has the change itself, in the same step. */
function record(
  { sql, clock }: IncidentServices,
  { accountId, id, label }: ApiKey,
  { command, note }: Done,
): Promise<void> {
  const name = label === null ? id : `${id} (${label})`
  return operatorActions.record(sql, {
    at: clock.now(),
    command,
    accountId,
    detail: `${name} ${noteWords(note)}`,
  })
}

const shown = (key: ApiKey, now: number): object => describeKey(key, now)

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 120 && isStorableText(value)
