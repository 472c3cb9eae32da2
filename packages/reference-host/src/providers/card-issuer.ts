import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import type { MessageVerifier } from '../http/provider-messages.ts'
import { validateRejection, type Rejection } from './rejection.ts'

/** What an issuer is given about a new card. The host itself keeps the limit: it decides every authorization. */
export interface CardOrder {
  readonly limit: { readonly amountCents: number; readonly frequency: string } | null
  readonly disposable: boolean
}

/** What the host keeps of an issued card. */
export interface IssuedCard {
  readonly last4: string
  /** 1 to 12. */
  readonly expirationMonth: number
  /** Four digits. */
  readonly expirationYear: number
}

/** A card number and its security code. Never store or log them. */
export interface CardSecrets {
  readonly pan: string
  readonly cvc: string
}

/**
 * Issues cards and keeps their numbers. A card that only the issuer knows authorizes nothing, because the host decides every
 * authorization. A call must end within 10 seconds and stop when its signal aborts. Faults: `ERR_PROVIDER_UNAVAILABLE` for an outage,
 * `ERR_PROVIDER_REPLY` for a malformed reply. Their messages are logged, so they must contain no card number. Any other error counts as
 * an outage.
 */
export interface CardIssuer {
  /** The name in `/providers/{name}/events` and `PROVIDER_WEBHOOK_SECRETS`: 1 to 32 characters of `a-z0-9-`. */
  readonly name: string
  /** Issues a card. A repeated `id` is the same card, also when calls are simultaneous. */
  issue(id: string, order: CardOrder, signal: AbortSignal): Promise<IssuedCard | Rejection>
  /** Reads number and security code for one reveal. An unknown `id` is a fault. */
  reveal(id: string, signal: AbortSignal): Promise<CardSecrets>
  /** Verifies the signature of an event. Absent if the provider signs events by Standard Webhooks 1.0.0. */
  readonly verify?: MessageVerifier
}

/** Returns the first error in a reply to `issue`; undefined for a valid one. */
export const validateIssueReply: ReturnType<typeof compileSchema> = reply =>
  typeof reply === 'object' && reply !== null && 'rejected' in reply
    ? validateRejection(reply)
    : validateIssuedCard(reply)

const validateIssuedCard = compileSchema(
  Type.Object({
    last4: Type.String({ pattern: '^\\d{4}$' }),
    expirationMonth: Type.Integer({ minimum: 1, maximum: 12 }),
    expirationYear: Type.Integer({ minimum: 2000, maximum: 2999 }),
  }),
)

/** Returns the first error in a reply to `reveal`, without the values; undefined for a valid one. */
export const validateCardSecrets: ReturnType<typeof compileSchema> = compileSchema(
  Type.Object({
    pan: Type.String({ pattern: '^\\d{12,19}$' }),
    cvc: Type.String({ pattern: '^\\d{3,4}$' }),
  }),
)
