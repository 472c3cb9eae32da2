import { randomUUID } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'

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

/** The host's pay-in records. */
export interface PayinStore {
  /** Adds a pay-in in the caller's transaction. An effect id can be stored once: a second insert is a fault. */
  insert(tx: SqlQueries, effectId: string, payin: NewPayin, now: EpochMs): Promise<Payin>
}

/** How long a pay-in waits for its payment, in ms (24 hours). */
const OPEN_MS = 86_400_000

/** Pay-in records in SQL. */
export const payinStore: PayinStore = {
  async insert(tx, effectId, payin, now) {
    const stored: Payin = {
      ...payin,
      id: `payin_${randomUUID().replaceAll('-', '')}`,
      status: 'awaiting_payment',
      createdAt: now,
      expiresAt: now + OPEN_MS,
    }
    await rows(
      tx,
      `insert into gw_payins (id, account_id, user_id, effect_id, amount_cents, currency, method, status,
        properties, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...[stored.id, stored.accountId, stored.userId, effectId, stored.amountCents, stored.currency],
        ...[
          stored.method,
          stored.status,
          JSON.stringify(stored.properties),
          stored.createdAt,
          stored.expiresAt,
        ],
      ],
    )
    return stored
  },
}
