import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { type Operation, ledgerWrite } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { lockAccount } from '../users/lock-account.ts'
import { folders } from '../folders/store.ts'
import { NO_LABELS, LABEL_NAMES, type CardLabels } from './card.ts'
import { insertIssued, issueCard, type CardTerms, type IssuedCardWithOrigin } from './issue.ts'
import { noSuchCard } from './read.ts'
import { responseExample, bodyExample, CardResponse, cardResponse, CreateBody, limitOf } from './wire.ts'
import { cards } from './store.ts'
import type { CardServices } from './services.ts'

/** The members of a body that both surfaces may have. */
export type CardBody = Partial<CardLabels> & { readonly folderId?: string | null; readonly limit?: unknown }

/** The denial of a folder that the account does not have. */
const noSuchFolder = deny('not_found', 'no folder has this id', { field: 'folderId' })

/** Checks whether a folder exists, and locks it so that it is not deleted before the transaction ends. */
export async function checkFolder(tx: SqlQueries, accountId: string, folderId: string | null | undefined) {
  if (folderId === null || folderId === undefined) return allow(undefined)
  return (await folders.lock(tx, accountId, folderId)) ? allow(undefined) : noSuchFolder
}

/** Returns the labels that a body names. */
export function labelsOf(body: CardBody): Partial<CardLabels> {
  return Object.fromEntries(
    LABEL_NAMES.filter(name => body[name] !== undefined).map(name => [name, body[name]]),
  )
}

/** `cards.create`: the issuer issues the card before the transaction, so that a stored card always exists at the issuer. */
export function createCard(
  surface: Surface,
  services: Pick<CardServices, 'clock' | 'db' | 'issuer' | 'providers'>,
): Operation {
  const termsOf = (body: CardBody, effectId: string): CardTerms => ({
    id: `card_${effectId}`,
    limit: limitOf(surface, body) ?? null,
    ...NO_LABELS,
    ...labelsOf(body),
    // What partners send under this name is not read.
    folderId: surface === 'user' ? (body.folderId ?? null) : null,
    disposable: false,
    autoCancelAfterAuth: false,
  })
  return ledgerWrite<typeof CreateBody.user, typeof CardResponse.user, IssuedCardWithOrigin | undefined>({
    id: 'cards.create',
    title: 'Make a card',
    surface,
    method: 'POST',
    credential: 'session',
    paths: [`/${surface}/v1/cards`],
    scopes: ['cards.write'],
    spends: false,
    requires: 'onboarding',
    idempotency: surface === 'user' ? 'required' : 'optional',
    // A misspelt limit would make a card without one.
    unknownMembers: 'deny',
    body: CreateBody[surface] as typeof CreateBody.user,
    response: CardResponse[surface] as typeof CardResponse.user,
    example: { body: bodyExample(surface), response: responseExample(surface) },
    denies: surface === 'user' ? [404] : [409],
    async prepare({ caller: { session }, body }, effectId) {
      const terms = termsOf(body, effectId)
      const { folderId } = terms
      // Checked before the call to the issuer: otherwise the issuer would have a card that nobody ever gets.
      if (folderId !== null && !(await folders.find(services.db, session.accountId, folderId)))
        return noSuchFolder
      return issueCard(services, session, terms)
    },
    async write({ caller: { session }, body }, { tx, effectId, prepared }) {
      const { accountId } = session
      const terms = termsOf(body, effectId)
      // Locked before the folder: the account is locked first, then its rows.
      await lockAccount(tx, accountId)
      const folder = await checkFolder(tx, accountId, terms.folderId)
      if (!folder.ok) return folder
      const made = prepared && (await insertIssued(services, tx, terms, prepared))
      if (made && !made.ok) return made
      // This is a repeat of a request whose record has expired: respond with the current card.
      const card = made?.value ?? (await cards.find(tx, accountId, terms.id))
      return card ? allow({ data: cardResponse(surface, card), summary: 'The card is made.' }) : noSuchCard
    },
  })
}
