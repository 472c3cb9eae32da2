import * as Type from 'typebox/type'
import { takes, type ProviderOf } from '../port.ts'
import { orRejection, reply, type ReplyType } from '../reply.ts'

/** What an issuer is given about a new card. The host itself keeps the limit: it decides every authorization. */
export interface CardOrder {
  readonly limit: { readonly amountCents: number; readonly frequency: string } | null
  readonly disposable: boolean
}

const issuedCard = reply(
  Type.Object({
    last4: Type.String({ pattern: '^\\d{4}$' }),
    /** 1 to 12. */
    expirationMonth: Type.Integer({ minimum: 1, maximum: 12 }),
    /** Four digits. */
    expirationYear: Type.Integer({ minimum: 2000, maximum: 2999 }),
  }),
)
/** What the host keeps of an issued card. */
export type IssuedCard = ReplyType<typeof issuedCard>

const cardSecrets = reply(
  Type.Object({
    pan: Type.String({ pattern: '^\\d{12,19}$' }),
    cvc: Type.String({ pattern: '^\\d{3,4}$' }),
  }),
)
/** A card number and its security code. Never store or log them. */
export type CardSecrets = ReplyType<typeof cardSecrets>

export const cardPort = {
  /** Issues a card. A repeated `id` is the same card, also when calls are simultaneous. */
  issue: takes<[id: string, order: CardOrder]>().replies(orRejection(issuedCard)),
  /** Reads number and security code for one reveal. An unknown `id` is a fault. */
  reveal: takes<[id: string]>().replies(cardSecrets),
}
/**
 * Issues cards and keeps their numbers. A card that only the issuer knows authorizes nothing, because the host decides every
 * authorization. Time limits and faults: docs/identity-check.md.
 */
export type CardIssuer = ProviderOf<typeof cardPort>
