import { allow, type Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import { type Operation, ledgerWrite, type HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { invalidState } from '../invalid-state.ts'
import { checkBelowCaller } from './caller-policies.ts'
import type { Card, CardChanges, CardLimit, CardStatus } from './card.ts'
import { checkFolder, labelsOf, type CardBody } from './create.ts'
import { denyEndedKey } from './ended-keys.ts'
import { noSuchCard } from './read.ts'
import {
  responseExample,
  CardResponse,
  cardResponse,
  ChangeBody,
  limitOf,
  spelledFor,
  statusOf,
} from './wire.ts'
import { cards } from './store.ts'
import type { CardServices } from './services.ts'

/** The statuses that PATCH can lead to, by the status before. The same status again is always allowed. */
export const CARD_MOVES: Readonly<Record<CardStatus, readonly CardStatus[]>> = {
  active: ['locked', 'canceled'],
  locked: ['active', 'canceled'],
  not_activated: ['active', 'canceled'],
  canceled: [],
}

/** Whether a change allows more spending with a card than before. */
export function loosens(
  card: Pick<Card, 'status' | 'limit'>,
  status: CardStatus | undefined,
  limit: CardLimit | null | undefined,
): boolean {
  if (status === 'active' && card.status !== 'active') return true
  if (limit === undefined || card.limit === null) return false
  return (
    limit === null || limit.frequency !== card.limit.frequency || limit.amountCents > card.limit.amountCents
  )
}

/**
 * `cards.change`: a change that allows more spending has onboarding requirements, and needs a caller all of whose caps also
 * bind the card.
 */
export function changeCard(
  surface: Surface,
  services: Pick<CardServices, 'cardKeyPolicies' | 'clock' | 'db' | 'issuer' | 'requirements'>,
): Operation {
  const { clock, db, requirements } = services
  return ledgerWrite<typeof ChangeBody.user, typeof CardResponse.user, Verdict<undefined, HostDenial>>({
    id: 'cards.change',
    title: 'Change, lock, unlock or cancel a card',
    surface,
    method: 'PATCH',
    paths: [`/${surface}/v1/cards/{cardId}`],
    credential: 'session',
    scopes: ['cards.write'],
    spends: false,
    idempotency: surface === 'user' ? 'required' : 'none',
    // A misspelt limit would make a card without one.
    unknownMembers: 'deny',
    body: ChangeBody[surface] as typeof ChangeBody.user,
    response: CardResponse[surface] as typeof CardResponse.user,
    example: { body: { status: 'locked' }, response: responseExample(surface) },
    denies: surface === 'user' ? [404] : [404, 409],
    async prepare({ caller: { session }, params }) {
      const card = await cards.find(db, session.accountId, params['cardId'] as string)
      // Read before the transaction: policies can be in another store, and it never changes which policies bind a card.
      return card ? allow(await checkBelowCaller(services, session, card)) : noSuchCard
    },
    async write({ caller: { session }, params, body }, { tx, prepared }) {
      const { accountId } = session
      const live = await denyEndedKey(tx, session)
      if (!live.ok) return live
      const changes = changesOf(surface, body)
      // Locked before the card, in the same order as by the deletion of a folder.
      const folder = await checkFolder(tx, accountId, changes.folderId)
      if (!folder.ok) return folder
      const card = await cards.lock(tx, accountId, params['cardId'] as string)
      if (!card) return noSuchCard
      const status = body.status === undefined ? undefined : statusOf(body.status)
      if (status === undefined && Object.keys(changes).length === 0)
        return deny('invalid_request', 'at least one member to change is required', { field: 'status' })
      if (status !== undefined && status !== card.status && !CARD_MOVES[card.status].includes(status)) {
        const [from, to] = [spelledFor(surface, card.status), spelledFor(surface, status)]
        return invalidState(surface, `a card that is ${from} cannot become ${to}`, 'status')
      }
      if (loosens(card, status, changes.limit)) {
        const open = await requirements.check(tx, session)
        if (!open.ok) return open
        if (!prepared.ok) return prepared
      }
      const changed = await cards.change(tx, card, changes)
      const now = clock.now()
      const done =
        status === 'canceled'
          ? await cards.cancelCard(tx, changed, 'user', now)
          : status === 'active'
            ? await cards.activateCard(tx, changed, now)
            : status === 'locked'
              ? await cards.lockCard(tx, changed, 'user', now)
              : changed
      return allow({ data: cardResponse(surface, done), summary: 'The card is changed.' })
    },
  })
}

function changesOf(surface: Surface, body: CardBody): CardChanges {
  const limit = limitOf(surface, body)
  return {
    ...labelsOf(body),
    ...(limit === undefined ? {} : { limit }),
    ...(surface === 'partner' || body.folderId === undefined ? {} : { folderId: body.folderId }),
  }
}
