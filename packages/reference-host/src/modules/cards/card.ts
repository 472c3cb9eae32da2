import type { EpochMs } from '@gatewright/kernel'
import { toInteger, toText, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'
import type { PolicyDocument } from '@gatewright/scope-guard'
import type { KeyLineage } from '@gatewright/session-issuer'
import type { EncryptedText } from '../crypto/account-cipher.ts'

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

/** How much may be spent with a card in one period, in integer US cents. */
export interface CardLimit {
  readonly amountCents: number
  readonly frequency: LimitFrequency
}

/** What the owner may write on a card. */
export const NOTE_NAMES = ['encryptedName', 'encryptedColor', 'encryptedEmoji', 'encryptedMemo'] as const
export type CardNotes = Readonly<Record<(typeof NOTE_NAMES)[number], EncryptedText | null>>

/** The notes of a card on which nothing was written. */
export const NO_NOTES: CardNotes = {
  encryptedName: null,
  encryptedColor: null,
  encryptedEmoji: null,
  encryptedMemo: null,
}

/** A card to insert. */
export interface NewCard extends CardNotes {
  readonly id: string
  readonly last4: string
  readonly status: CardStatus
  readonly limit: CardLimit | null
  readonly expirationMonth: number
  readonly expirationYear: number
  readonly folderId: string | null
  readonly disposable: boolean
  /** Whether the card is canceled in the transaction of its first approved authorization. */
  readonly autoCancelAfterAuth: boolean
  /** The name of the provider that issued it. */
  readonly issuer: string
  /** The lineage of the key that made it: what the key carries now binds the card. Null: a seeded card. */
  readonly keyLineage: KeyLineage | null
  /** Copies of the policies that the making session carried beyond its key. They bind the card, too. */
  readonly sessionPolicies: readonly PolicyDocument[]
}

/** A card of an account. `position` counts from 1 in the order of issue. */
export interface Card extends NewCard {
  readonly accountId: string
  readonly position: number
  readonly createdAt: EpochMs
  readonly canceledAt: EpochMs | null
  readonly cancelReason: CancelReason | null
}

/** What can be changed of a card without changing its status. */
export type CardChanges = Partial<CardNotes & Pick<NewCard, 'limit' | 'folderId'>>

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

/** The columns of those members that are present. */
export function cardColumns(card: Partial<NewCard>): Record<string, SqlValue> {
  const columns: Record<string, SqlValue> = {}
  const set = (name: string, value: SqlValue | undefined): void => {
    if (value !== undefined) columns[name] = value
  }
  const { limit, keyLineage } = card
  set('id', card.id)
  set('last4', card.last4)
  set('status', card.status)
  set('limit_cents', limit && limit.amountCents)
  set('limit_frequency', limit && limit.frequency)
  set('expiration_month', card.expirationMonth)
  set('expiration_year', card.expirationYear)
  for (const [name, column] of NOTE_COLUMNS) {
    const note = card[name]
    if (note !== undefined) set(column, json(note))
  }
  set('folder_id', card.folderId)
  set('disposable', card.disposable === undefined ? undefined : Number(card.disposable))
  set(
    'auto_cancel_after_auth',
    card.autoCancelAfterAuth === undefined ? undefined : Number(card.autoCancelAfterAuth),
  )
  set('issuer', card.issuer)
  set('key_account_id', keyLineage && keyLineage.accountId)
  set('key_lineage_id', keyLineage && keyLineage.lineageId)
  if (card.sessionPolicies) set('session_policies', JSON.stringify(card.sessionPolicies))
  return columns
}

const NOTE_COLUMNS = [
  ['encryptedName', 'encrypted_name'],
  ['encryptedColor', 'encrypted_color'],
  ['encryptedEmoji', 'encrypted_emoji'],
  ['encryptedMemo', 'encrypted_memo'],
] as const

/** Reads a card from its row. */
export function toCard(row: SqlRow): Card {
  const orNull = <T>(column: string, read: (value: unknown) => T): T | null =>
    row[column] === null ? null : read(row[column])
  const note = (column: string): EncryptedText | null =>
    orNull(column, value => JSON.parse(toText(value)) as EncryptedText)
  return {
    id: toText(row['id']),
    accountId: toText(row['account_id']),
    position: toInteger(row['position']),
    last4: toText(row['last4']),
    status: toText(row['status']) as CardStatus,
    limit: orNull('limit_cents', cents => ({
      amountCents: toInteger(cents),
      frequency: toText(row['limit_frequency']) as LimitFrequency,
    })),
    expirationMonth: toInteger(row['expiration_month']),
    expirationYear: toInteger(row['expiration_year']),
    encryptedName: note('encrypted_name'),
    encryptedColor: note('encrypted_color'),
    encryptedEmoji: note('encrypted_emoji'),
    encryptedMemo: note('encrypted_memo'),
    folderId: orNull('folder_id', toText),
    disposable: toInteger(row['disposable']) === 1,
    autoCancelAfterAuth: toInteger(row['auto_cancel_after_auth']) === 1,
    issuer: toText(row['issuer']),
    keyLineage: orNull('key_lineage_id', lineageId => ({
      accountId: toText(row['key_account_id']),
      lineageId: toText(lineageId),
    })),
    sessionPolicies: JSON.parse(toText(row['session_policies'])) as PolicyDocument[],
    createdAt: toInteger(row['created_at']),
    canceledAt: orNull('canceled_at', toInteger),
    cancelReason: orNull('cancel_reason', toText) as CancelReason | null,
  }
}
