import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import { newId } from '@gatewright/host'
import { payinTable, type NewPayin, type Payin, type PayinMove, type SeenTransfer } from './payin.ts'
import { nextStatus, type PayinCause, type PayinStatus } from './states.ts'

/** The members that a move changes besides the status. Omitted members are unchanged. */
interface PayinChange {
  readonly method?: Payin['method']
  readonly submittedTx?: string
  readonly seen?: SeenTransfer | null
  readonly detail?: string
}

/** How many of a pay-in's latest moves a response shows. */
export const MAX_MOVES = 100

/** How long a pay-in waits for its payment, in ms (24 hours). */
const OPEN_MS = 86_400_000

const INSERT = `insert into gw_payins (id, account_id, user_id, effect_id, subscription_id, plan_id, amount_cents,
    currency, method, status, moves, properties, hold, chain_id, asset, token, pay_to, own_receiver, units, payer,
    created_at, expires_at, due_at, operation)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'awaiting_payment', 1, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $21)
  returning ${payinTable.columns}`
const INSERT_MOVE = `insert into gw_payin_moves (payin_id, number, from_status, to_status, cause, detail, at)
  values ($1, $2, $3, $4, $5, $6, $7)`
const MOVE = `update gw_payins set status = $1, moves = moves + 1, method = $2, submitted_tx = $3, transfer_tx = $4,
  transfer_log = $5, transfer_block = $6, transfer_block_hash = $7, due_at = $8
  where id = $9 and moves = $10 returning ${payinTable.columns}`
const ASSIGN_ADDRESS = 'update gw_deposit_addresses set payin_id = $1 where chain_id = $2 and address = $3'

/** How long a transfer that a reorganisation removed may take to be mined again, in ms (1 hour). */
const REMINE_MS = 3_600_000

/** Returns when a pay-in may be closed: at its deadline, but at least one hour after a reorganisation removed its transfer. */
function dueAt({ dueAt, expiresAt }: Payin, cause: PayinCause, now: EpochMs): EpochMs {
  return cause === 'reorganised' ? Math.max(expiresAt, now + REMINE_MS) : dueAt
}

/** The host's pay-in records. Writes work in the caller's transaction. */
export const payins = {
  find: payinTable.find,
  page: payinTable.page,
  /** Locks a pay-in of an account until the transaction ends, so that moves happen one after another. */
  lock: payinTable.lock,
  /** Access without an account, for background work. */
  anyAccount: payinTable.anyAccount,
  /**
   * Adds a pay-in, one per effect. Fault: `ERR_STORE_*` when the effect has one already, so call
   * `findByEffect` first.
   */
  async insert(
    tx: SqlQueries,
    { effectId, hold }: { readonly effectId: string; readonly hold: SpendHold },
    payin: NewPayin,
    now: EpochMs,
  ): Promise<Payin> {
    const { accountId, userId, subscriptionId, planId, amountCents, currency, method, payTo } = payin
    const [row] = await rows(tx, INSERT, [
      newId('payin'),
      accountId,
      userId,
      effectId,
      subscriptionId,
      planId,
      amountCents,
      currency,
      method,
      JSON.stringify(payin.properties),
      JSON.stringify(hold),
      ...(payTo
        ? [payTo.chainId, payTo.asset, payTo.token, payTo.address, payTo.ownReceiver ? 1 : 0]
        : [null, null, null, null, 0]),
      payTo ? payTo.units.toString() : null,
      payTo?.payer ?? null,
      now,
      now + OPEN_MS,
      payin.operation,
    ])
    const created = payinTable.read(row as SqlRow)
    await rows(tx, INSERT_MOVE, [created.id, 1, null, created.status, 'created', null, now])
    if (payTo?.ownReceiver) await rows(tx, ASSIGN_ADDRESS, [created.id, payTo.chainId, payTo.address])
    return created
  },
  /** Finds the pay-in of an effect, for a request that is repeated after its idempotency record expired. */
  async findByEffect(tx: SqlQueries, effectId: string): Promise<Payin | undefined> {
    return (await payinTable.select(tx, 'where effect_id = $1', [effectId]))[0]
  },
  /** Counts the pay-ins of an account that can still be paid. Lock the account before, if no pay-in may be added meanwhile. */
  countOpen: (tx: SqlQueries, accountId: string): Promise<number> =>
    payinTable.count(tx, accountId, "status in ('awaiting_payment', 'confirming')"),
  /** Moves a locked pay-in by a cause and records the move. Throws if the cause is not allowed in this status: see `nextStatus`. */
  async move(
    tx: SqlQueries,
    payin: Payin,
    cause: PayinCause,
    { seen = payin.seen, detail, ...change }: PayinChange,
    now: EpochMs,
  ): Promise<Payin> {
    const to = nextStatus(payin.status, cause)
    if (to === undefined) throw new Error(`a pay-in that is ${payin.status} cannot be moved by ${cause}`)
    const { method = payin.method, submittedTx = payin.submittedTx } = change
    const [row] = await rows(tx, MOVE, [
      to,
      method,
      submittedTx,
      seen?.txHash ?? null,
      seen?.logIndex ?? null,
      seen?.blockNumber ?? null,
      seen?.blockHash ?? null,
      dueAt(payin, cause, now),
      payin.id,
      payin.moves,
    ])
    if (!row) throw new Error('the pay-in was moved by another transaction: lock it first')
    const moved = payinTable.read(row)
    await rows(tx, INSERT_MOVE, [moved.id, moved.moves, payin.status, to, cause, detail ?? null, now])
    return moved
  },
  /** Returns whether a host has started to read a chain, so that every transfer from now on will be found. */
  async isChainRead(tx: SqlQueries, chainId: number): Promise<boolean> {
    const text = 'select 1 from gw_chain_cursors where chain_id = $1 and next_block >= 0'
    return (await rows(tx, text, [chainId])).length > 0
  },
  /** Reads the request members that the host does not use. Undefined: the account has no such pay-in. */
  async properties(
    db: SqlQueries,
    accountId: string,
    id: string,
  ): Promise<NewPayin['properties'] | undefined> {
    const text = 'select properties from gw_payins where id = $1 and account_id = $2'
    const [row] = await rows(db, text, [id, accountId])
    return row && (JSON.parse(toText(row['properties'])) as NewPayin['properties'])
  },
  /** Reads the last `MAX_MOVES` moves of a pay-in, in order. */
  async history(db: SqlQueries, id: string): Promise<readonly PayinMove[]> {
    const text = 'select * from gw_payin_moves where payin_id = $1 order by number desc limit $2'
    return (await rows(db, text, [id, MAX_MOVES])).toReversed().map(row => ({
      from: row['from_status'] as PayinStatus | null,
      to: row['to_status'] as PayinStatus,
      cause: row['cause'] as PayinMove['cause'],
      detail: row['detail'] as string | null,
      at: toInteger(row['at']),
    }))
  },
}
