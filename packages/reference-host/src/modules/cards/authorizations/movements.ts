import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { digestOf } from '@gatewright/host/internal'
import { instant, integer, oneOf, table, text } from '@gatewright/host/tables'
import type { Authorization } from './store.ts'

/** What a card network does with the money of an authorization. */
export type MovementKind = 'clearing' | 'reversal' | 'refund'

/** The terms of a movement. A repeat of its id must have the same. */
export interface MovementTerms {
  /** US cents; null: all that is left. */
  readonly amountCents: number | null
  /** Whether a clearing is the last one. */
  readonly final: boolean
}

const movementTable = table('gw_authorization_movements', {
  /** The provider's id of the money, or the id of the message that named none. */
  id: text,
  accountId: text,
  authorizationId: text,
  kind: oneOf<MovementKind>(),
  digest: text,
  amountCents: integer,
  createdAt: instant,
})

/** Names a movement: its id is unique among those of its kind of one authorization. */
interface MovementName {
  readonly kind: MovementKind
  readonly id: string
}

/** The clearings, reversals and refunds that were taken. Lock the authorization before. */
export const movements = {
  /** Whether a movement is new, repeats one that was taken, or has its id and other terms. */
  async compare(
    tx: SqlQueries,
    { accountId, id: authorizationId }: Authorization,
    { kind, id }: MovementName,
    terms: MovementTerms,
  ): Promise<'new' | 'repeated' | 'conflict'> {
    const conditions = 'where account_id = $1 and authorization_id = $2 and kind = $3 and id = $4'
    const [known] = await movementTable.select(tx, conditions, [accountId, authorizationId, kind, id])
    if (!known) return 'new'
    return known.digest === digestOf(terms) ? 'repeated' : 'conflict'
  },
  /** Records a movement that was taken. `amountCents` is what it named or, if it named nothing, what it moved. */
  async add(
    tx: SqlQueries,
    { accountId, id: authorizationId }: Authorization,
    { kind, id }: MovementName,
    { terms, amountCents, now }: { terms: MovementTerms; amountCents: number; now: EpochMs },
  ): Promise<void> {
    const digest = digestOf(terms)
    await movementTable.add(tx, { id, accountId, authorizationId, kind, digest, amountCents, createdAt: now })
  },
  /** Adds up what the reversals of an authorization named. */
  async reversedCents(tx: SqlQueries, { accountId, id }: Authorization): Promise<number> {
    const text = `select cast(coalesce(sum(amount_cents), 0) as bigint) as cents from gw_authorization_movements
      where account_id = $1 and authorization_id = $2 and kind = 'reversal'`
    return toInteger((await rows(tx, text, [accountId, id]))[0]?.['cents'])
  },
}
