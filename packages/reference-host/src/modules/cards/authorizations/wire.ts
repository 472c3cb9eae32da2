import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { component, instant, text, textOrNull } from '@gatewright/host/schemas'
import { MAX_HISTORY } from '@gatewright/host/internal'
import { events, type RecordedEvent } from '@gatewright/host'
import * as examples from '../../examples.ts'
import { DECLINE_REASONS } from './states.ts'
import type { Authorization } from './store.ts'

const cents = (description: string): Type.TInteger => Type.Integer({ minimum: 0, description })

const MerchantSchema = Type.Object(
  {
    name: text('As the merchant gave it'),
    mcc: text('The merchant category code, 4 digits'),
    city: textOrNull('Null if the merchant gave none'),
    country: text('Two letters'),
  },
  component('Merchant', 'Who is paid by card'),
)
const HistoryEntrySchema = Type.Object(
  {
    from: textOrNull('The status before; null for the first entry'),
    to: text('The status after'),
    cause: text(
      'Why, such as `requested`, `incremented`, `cleared`, `excess`, `conflict` or the reason of a decline',
    ),
    amountCents: cents('What this entry is about'),
    at: instant('When'),
  },
  component('AuthorizationChange', 'One thing that happened to an authorization'),
)
/** Schema of an authorization. */
export const AuthorizationSchema = Type.Object(
  {
    id: text('The id of the authorization'),
    cardId: text('The card that pays'),
    status: Type.Enum(['authorized', 'declined', 'cleared', 'reversed']),
    amountCents: cents(
      'What the merchant asked for, with the increments that were approved. 0: an account check',
    ),
    heldCents: cents('What is held now'),
    clearedCents: cents('What the merchant received'),
    refundedCents: cents('What the merchant gave back'),
    currency: text('An ISO 4217 code. Only USD is authorized'),
    merchant: MerchantSchema,
    declineReason: Type.Union([Type.Enum([...DECLINE_REASONS]), Type.Null()]),
    declineRule: textOrNull('The member of the policy that blocked it, such as `dailySpendCapCents`'),
    createdAt: instant('When it was decided'),
    history: Type.Array(HistoryEntrySchema, {
      maxItems: MAX_HISTORY,
      description: 'The last 20 things that happened to it, oldest first',
    }),
  },
  component('Authorization', 'A payment by card'),
)

/** What a response says about an event of an authorization. */
export type HistoryEntry = Pick<RecordedEvent, 'from' | 'to' | 'cause' | 'amountCents' | 'at'>

/** Converts an authorization with its history for responses. */
export function authorizationData(
  row: Authorization,
  history: readonly HistoryEntry[],
): Type.Static<typeof AuthorizationSchema> {
  const { id, cardId, status, amountCents, heldCents, clearedCents, refundedCents, currency } = row
  const { merchant, declineReason, declineRule, createdAt } = row
  return {
    id,
    cardId,
    status,
    amountCents,
    heldCents,
    clearedCents,
    refundedCents,
    currency,
    merchant,
    declineReason,
    declineRule,
    createdAt: new Date(createdAt).toISOString(),
    history: history.map(({ from, to, cause, amountCents: about, at }) => ({
      from,
      to: to ?? status,
      cause,
      amountCents: about ?? 0,
      at: new Date(at).toISOString(),
    })),
  }
}

/** Reads the history of an authorization, and converts both for responses. */
export async function withHistory(
  db: SqlQueries,
  row: Authorization,
): Promise<Type.Static<typeof AuthorizationSchema>> {
  const histories = await events.histories(db, row.accountId, 'authorization', [row.id])
  return authorizationData(row, histories.get(row.id) ?? [])
}

/** The authorization in examples. */
export const exampleAuthorization: Type.Static<typeof AuthorizationSchema> = {
  id: 'auth_5d0f2c',
  cardId: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
  status: 'authorized',
  amountCents: 1250,
  heldCents: 1250,
  clearedCents: 0,
  refundedCents: 0,
  currency: 'USD',
  merchant: { name: 'Corner Shop', mcc: '5734', city: null, country: 'US' },
  declineReason: null,
  declineRule: null,
  createdAt: examples.AT,
  history: [{ from: null, to: 'authorized', cause: 'requested', amountCents: 1250, at: examples.AT }],
}
