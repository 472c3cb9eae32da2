import type { PolicyDocument } from '@gatewright/scope-guard'
import {
  type Row,
  flag,
  instant,
  integer,
  json,
  named,
  nullable,
  nullableGroup,
  oneOf,
  table,
  text,
} from '@gatewright/host/tables'
import type { EncryptedText } from '../encryption/account-cipher.ts'

/** How often a card's limit resets. */
export const LIMIT_FREQUENCIES = [
  'perAuthorization',
  'per24HourPeriod',
  'per7DayPeriod',
  'per30DayPeriod',
  'perYearPeriod',
  'allTime',
] as const
export type LimitFrequency = (typeof LIMIT_FREQUENCIES)[number]

/** Statuses of a card. `canceled` is final. */
export type CardStatus = 'active' | 'locked' | 'canceled' | 'not_activated'
export type CancelReason = 'user' | 'auto' | 'operator'
/** Who or what locked a card: somebody of the account, or the revocation of a key that made or revealed it. */
export type LockReason = 'user' | 'key_revoked'

/** How much may be spent with a card in one period, in integer US cents. */
export interface CardLimit {
  readonly amountCents: number
  readonly frequency: LimitFrequency
}

/** Labels of a card that its owner sets. Clients encrypt them. */
export const LABEL_NAMES = ['encryptedName', 'encryptedColor', 'encryptedEmoji', 'encryptedMemo'] as const
export type CardLabels = Readonly<Record<(typeof LABEL_NAMES)[number], EncryptedText | null>>

/** The labels of a card that has none. */
export const NO_LABELS: CardLabels = {
  encryptedName: null,
  encryptedColor: null,
  encryptedEmoji: null,
  encryptedMemo: null,
}

const label = nullable(json<EncryptedText>())

/** The cards of all accounts. Card numbers are never stored. */
export const cardTable = table('gw_cards', {
  id: text,
  accountId: text,
  /** Counts the cards of the account from 1 in the order of issue. */
  position: integer,
  last4: text,
  status: oneOf<CardStatus>(),
  limit: nullableGroup({
    amountCents: named('limit_cents', integer),
    frequency: named('limit_frequency', oneOf<LimitFrequency>()),
  }),
  expirationMonth: integer,
  expirationYear: integer,
  encryptedName: label,
  encryptedColor: label,
  encryptedEmoji: label,
  encryptedMemo: label,
  folderId: nullable(text),
  /** Whether it is a disposable card, made from a proposal. */
  disposable: flag,
  /** Whether the card is canceled in the transaction of its first approved authorization. */
  autoCancelAfterAuth: flag,
  /** The name of the provider that issued it. */
  issuer: text,
  /** The lineage of the key that made the card. The policies that this key has at an authorization apply to it. Null: a seeded card. */
  keyLineage: nullableGroup({
    lineageId: named('key_lineage_id', text),
    accountId: named('key_account_id', text),
  }),
  /**
   * Copies of the policies that the session which made the card had in addition to those of its key. They apply to the card,
   * too.
   */
  sessionPolicies: json<readonly PolicyDocument[]>(),
  createdAt: instant,
  canceledAt: nullable(instant),
  cancelReason: nullable(oneOf<CancelReason>()),
  /** Null: it is not locked. */
  lockReason: nullable(oneOf<LockReason>()),
})
/** A card of an account. */
export type Card = Row<typeof cardTable>
/** A card to insert. */
export type NewCard = Omit<
  Card,
  'accountId' | 'position' | 'createdAt' | 'canceledAt' | 'cancelReason' | 'lockReason'
>

/** The members of a card that can change without a change of its status. */
export type CardChanges = Partial<CardLabels & Pick<NewCard, 'limit' | 'folderId'>>
