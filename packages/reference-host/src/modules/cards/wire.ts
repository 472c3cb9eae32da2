import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { component, idText, instant, text, instantOrNull, textOrNull } from '@gatewright/host/schemas'
import { EncryptedNote, encryptedExample } from '../encryption/fields.ts'
import * as examples from '../examples.ts'
import { LIMIT_FREQUENCIES, NO_LABELS, type Card, type CardLimit, type CardStatus } from './card.ts'

const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
/** The name of the amount in a limit: existing clients of the two surfaces read different names. */
const AMOUNT = { user: 'amount', partner: 'amountCents' } as const
const STATUSES: readonly CardStatus[] = ['active', 'locked', 'canceled', 'not_activated']

/** Returns the spelling of a status on a surface: camelCase for users, snake_case for partners. */
export function spelledFor(surface: Surface, status: CardStatus): string {
  return surface === 'user' && status === 'not_activated' ? 'notActivated' : status
}

/** Returns the status for a word in either spelling. */
export function statusOf(word: string): CardStatus {
  return word === 'notActivated' ? 'not_activated' : (word as CardStatus)
}

export const Frequency = Type.Enum([...LIMIT_FREQUENCIES], { description: 'How often the limit resets' })
const statusEnum = (surface: Surface) => Type.Enum(STATUSES.map(status => spelledFor(surface, status)))
const amount = Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents in one period' })
const limit = (surface: Surface, frequency: Type.TSchema, title: string) =>
  Type.Object(
    { [AMOUNT[surface]]: amount, frequency },
    component(title, 'How much a card may spend, and how often'),
  )
const newLimit = (surface: Surface, title: string) =>
  Type.Optional(orNull(limit(surface, Type.Optional(Frequency), title), 'Null: no limit'))
const noteField = orNull(EncryptedNote, 'What the client encrypted; the host does not read it')
const labels = {
  encryptedName: noteField,
  encryptedColor: noteField,
  encryptedEmoji: noteField,
  encryptedMemo: noteField,
}
const newLabels = Type.Partial(Type.Object(labels)).properties
const folderId = Type.Optional(orNull(idText(), 'The folder; null: none'))

/** Partners have no folders, and their clients send back what they read of a card. */
const partnersFolderId = Type.Optional(Type.Unknown({ description: 'Accepted from partners and not read' }))

const UserCard = Type.Object(
  {
    id: text('The id of the card'),
    last4: text('The last four digits of its number'),
    brand: Type.Enum(['visa']),
    status: statusEnum('user'),
    limit: orNull(limit('user', Frequency, 'UserCardLimit'), 'Null: no limit for this card'),
    expirationMonth: Type.Integer({ description: '1 to 12' }),
    expirationYear: Type.Integer({ description: 'Four digits' }),
    createdAt: instant('When it was issued'),
    ...labels,
    disposable: Type.Boolean({ description: 'Whether it was made for one purchase' }),
    folderId: textOrNull('The folder that it is in'),
    canceledAt: instantOrNull('When it was canceled'),
    cancelReason: textOrNull('`user`, `auto` or `operator`'),
    lockReason: textOrNull(
      '`user`, or `key_revoked`: a key that made or revealed it was revoked. Null: not locked',
    ),
    keyLineageId: textOrNull('The `lineageId` of the key that made it. Null: no key made it'),
    spentCents: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
        description:
          'What its payments use of the limit in the window that ends now. Null: no limit, or one for each payment. Only where cards are read',
      }),
    ),
  },
  component('UserCard', 'A card of the account. The full number is never part of it'),
)
const PartnerCard = Type.Object(
  {
    cardId: text('The id of the card'),
    last4: text('The last four digits of its number'),
    brand: Type.Enum(['visa']),
    status: statusEnum('partner'),
    limit: orNull(limit('partner', Frequency, 'CardLimit'), 'Null: no limit for this card'),
    expirationMonth: Type.Integer({ description: '1 to 12' }),
    expirationYear: Type.Integer({ description: 'Four digits' }),
    createdAt: instant('When it was issued'),
    ...labels,
    folderId: Type.Null({ description: 'Kept for existing clients' }),
    contractId: Type.Null({ description: 'Kept for existing clients' }),
    isPinned: Type.Literal(false, { description: 'Kept for existing clients' }),
    sortOrder: Type.Integer({ description: 'Counts the cards of the user in the order of issue' }),
  },
  component('Card', 'A card of the session user. The full number is never part of an answer'),
)

/** Schema of a response with a card: users get it as `card`, partners in `data` itself. */
export const CardResponse = {
  user: Type.Object({ card: UserCard }, component('UserCardResponse', 'A card')),
  partner: PartnerCard,
} as const
export const CardSchema = { user: UserCard, partner: PartnerCard } as const

/** The body of `cards.create`, by surface. */
export const CreateBody = {
  user: Type.Object(
    { ...newLabels, limit: newLimit('user', 'NewUserCardLimit'), folderId },
    component('CreateUserCardRequest', 'What the new card is like. Everything is optional'),
  ),
  partner: Type.Object(
    { ...newLabels, limit: newLimit('partner', 'NewCardLimit'), folderId: partnersFolderId },
    component('CreateCardRequest', 'What the new card is like. Everything is optional'),
  ),
} as const
/** The body of `cards.change`, by surface. */
export const ChangeBody = {
  user: Type.Object(
    { ...CreateBody.user.properties, status: Type.Optional(statusEnum('user')) },
    component('ChangeUserCardRequest', 'What to change of a card: at least one member'),
  ),
  partner: Type.Object(
    { ...CreateBody.partner.properties, status: Type.Optional(statusEnum('partner')) },
    component('ChangeCardRequest', 'What to change of a card: at least one member'),
  ),
} as const

/** Reads the limit of a body; undefined if it has none. */
export function limitOf(surface: Surface, body: { readonly limit?: unknown }): CardLimit | null | undefined {
  const given = body.limit as (Record<string, unknown> & Partial<CardLimit>) | null | undefined
  if (!given) return given
  return {
    amountCents: given[AMOUNT[surface]] as number,
    frequency: given.frequency ?? 'per30DayPeriod',
  }
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Converts a card for responses of a surface. */
export function cardData(surface: Surface, card: Card): Record<string, unknown> {
  const { id, last4, expirationMonth, expirationYear, limit: given } = card
  const common = {
    last4,
    brand: 'visa',
    status: spelledFor(surface, card.status),
    expirationMonth,
    expirationYear,
    limit: given && { [AMOUNT[surface]]: given.amountCents, frequency: given.frequency },
    createdAt: iso(card.createdAt),
    encryptedName: card.encryptedName,
    encryptedColor: card.encryptedColor,
    encryptedEmoji: card.encryptedEmoji,
    encryptedMemo: card.encryptedMemo,
  }
  if (surface === 'partner') {
    const kept = { folderId: null, contractId: null, isPinned: false }
    return { cardId: id, ...common, ...kept, sortOrder: card.position }
  }
  const { disposable, folderId: folder, canceledAt, cancelReason, lockReason, keyLineage } = card
  return {
    id,
    ...common,
    disposable,
    folderId: folder,
    canceledAt: iso(canceledAt),
    cancelReason,
    lockReason,
    keyLineageId: keyLineage?.lineageId ?? null,
  }
}

/** Makes the data of a response with a card, by surface. */
export function cardResponse(surface: Surface, card: Card): Record<string, unknown> {
  return surface === 'user' ? { card: cardData('user', card) } : cardData('partner', card)
}

const exampleCard: Card = {
  id: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
  accountId: 'acc_1',
  position: 1,
  last4: '2699',
  status: 'active',
  limit: { amountCents: 161_000, frequency: 'per30DayPeriod' },
  expirationMonth: 4,
  expirationYear: 2028,
  ...NO_LABELS,
  encryptedName: encryptedExample,
  folderId: null,
  disposable: false,
  autoCancelAfterAuth: false,
  issuer: 'sandbox',
  keyLineage: null,
  sessionPolicies: [],
  createdAt: Date.parse(examples.AT),
  canceledAt: null,
  cancelReason: null,
  lockReason: null,
}

/** The card of the examples. */
export const cardExample = (surface: Surface): never => cardData(surface, exampleCard) as never
/** The response with the card of the examples. */
export const responseExample = (surface: Surface): never => cardResponse(surface, exampleCard) as never
/** The body of the examples. */
export const bodyExample = (surface: Surface): never =>
  ({
    limit: { [AMOUNT[surface]]: 161_000, frequency: 'per30DayPeriod' },
    encryptedName: encryptedExample,
  }) as never
