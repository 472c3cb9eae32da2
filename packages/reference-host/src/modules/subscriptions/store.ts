import { randomUUID } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import type { SpendHold } from '@gatewright/scope-guard'
import { rows, toInteger, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'

/** What a pay-in request asks for. */
export interface NewPayin {
  readonly accountId: string
  readonly userId: string | null
  /** Integer US cents, 1 to 100 000 000. */
  readonly amountCents: number
  readonly currency: 'USD'
  readonly method: 'onchain' | 'balance'
  /** Properties of the request that have no meaning here, kept as they came. */
  readonly properties: Readonly<Record<string, unknown>>
}

/** A stored pay-in. */
export interface Payin extends NewPayin {
  readonly id: string
  readonly status: 'awaiting_payment'
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
}

/** What ties a pay-in to its request: the effect's id, and the spend that its policies hold for it. */
export interface PayinEffect {
  readonly effectId: string
  /** Kept with the pay-in: it counts against the caps until the pay-in ends. */
  readonly hold: SpendHold
}

/** The host's pay-in records. */
export interface PayinStore {
  /**
   * Adds a pay-in in the caller's transaction, once per effect id: when the idempotency record has ended and the
   * same request comes again, the pay-in that it made then is returned.
   */
  insert(tx: SqlQueries, effect: PayinEffect, payin: NewPayin, now: EpochMs): Promise<Payin>
}

/** How long a pay-in waits for its payment, in ms (24 hours). */
const OPEN_MS = 86_400_000

/** Pay-in records in SQL. */
export const payinStore: PayinStore = {
  async insert(tx, { effectId, hold }, payin, now) {
    const id = `payin_${randomUUID().replaceAll('-', '')}`
    const { accountId, userId, amountCents, currency, method, properties } = payin
    await rows(
      tx,
      `insert into gw_payins (id, account_id, user_id, effect_id, amount_cents, currency, method, status,
        properties, hold, created_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7, 'awaiting_payment', $8, $9, $10, $11)
        on conflict (effect_id) do nothing`,
      [
        ...[id, accountId, userId, effectId, amountCents, currency, method, JSON.stringify(properties)],
        ...[JSON.stringify(hold), now, now + OPEN_MS],
      ],
    )
    const [row] = await rows(tx, 'select * from gw_payins where effect_id = $1', [effectId])
    return toPayin(row as SqlRow)
  },
}

function toPayin(row: SqlRow): Payin {
  return {
    id: toText(row['id']),
    accountId: toText(row['account_id']),
    userId: row['user_id'] === null ? null : toText(row['user_id']),
    amountCents: toInteger(row['amount_cents']),
    currency: toText(row['currency']) as Payin['currency'],
    method: toText(row['method']) as Payin['method'],
    properties: JSON.parse(toText(row['properties'])) as Payin['properties'],
    status: toText(row['status']) as Payin['status'],
    createdAt: toInteger(row['created_at']),
    expiresAt: toInteger(row['expires_at']),
  }
}
