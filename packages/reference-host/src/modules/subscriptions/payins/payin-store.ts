import { newId } from '@gatewright/host'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, rowLock, toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import { readNewest } from '@gatewright/host/internal'
import type { NewestPage, Place } from '@gatewright/host'
import { addOpenPayin, changeLookups } from './payin-lookups.ts'
import {
  describe,
  listedPayinTable,
  type ListedPayin,
  payinTable,
  type NewPayin,
  type Payin,
  type PayinMove,
  type SeenTransfer,
} from './payin.ts'
import { nextStatus, type PayinCause, type PayinStatus } from './states.ts'

/** The members that a move changes besides the status. Omitted members are unchanged. */
export interface PayinChange {
  readonly method?: Payin['method']
  readonly submittedTx?: string
  readonly seen?: SeenTransfer | null
  readonly detail?: string
  readonly now: EpochMs
}

/** The filter of a list of pay-ins. An absent member filters nothing. */
interface PayinFilter {
  readonly id?: string | undefined
  readonly keyId?: string | undefined
  readonly statuses?: readonly PayinStatus[] | undefined
  /** Those that match a search. */
  readonly matches?: ((payin: ListedPayin) => boolean) | undefined
}

/** How many of a pay-in's latest moves a response shows. */
export const MAX_MOVES = 100

/** How long a pay-in waits for its payment, in ms (24 hours). */
const OPEN_MS = 86_400_000

const INSERT = `insert into gw_payins (id, account_id, user_id, effect_id, subscription_id, plan_id, amount_cents,
    currency, method, status, moves, properties, description, hold, chain_id, asset, token, pay_to, own_receiver, units, payer,
    created_at, expires_at, due_at, operation, key_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'awaiting_payment', 1, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $21, $22, $23)`
const INSERT_MOVE = `insert into gw_payin_moves (account_id, payin_id, number, from_status, to_status, cause, detail, at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const MOVE = `update gw_payins set status = $1, moves = moves + 1, method = $2, submitted_tx = $3, transfer_tx = $4,
  transfer_log = $5, transfer_block = $6, transfer_block_hash = $7, due_at = $8
  where account_id = $9 and id = $10 and moves = $11 returning ${payinTable.columns}`
const FIND_OR_COUNT_OPEN = `select found.*, counted.open from
    (select count(*) as open from gw_payins
      where account_id = $1 and status in ('awaiting_payment', 'confirming')) counted
  left join (select ${payinTable.columns} from gw_payins where account_id = $1 and effect_id = $2) found on true`
const ASSIGN_ADDRESS =
  'update gw_deposit_addresses set account_id = $1, payin_id = $2 where chain_id = $3 and address = $4'

/** How long a transfer that a reorganisation removed may take to be mined again, in ms (1 hour). */
const REMINE_MS = 3_600_000

/** Returns when a pay-in may be closed: at its deadline, but at least one hour after a reorganisation removed its transfer. */
function dueAt({ dueAt, expiresAt }: Payin, cause: PayinCause, now: EpochMs): EpochMs {
  return cause === 'reorganised' ? Math.max(expiresAt, now + REMINE_MS) : dueAt
}

/** Chooses the index by which a page is read: that of an id or a key, else that of statuses. */
function rowFilter({ id, keyId, statuses }: PayinFilter): Parameters<typeof readNewest>[2]['filter'] {
  if (id === undefined && keyId === undefined)
    return statuses ? { oneOf: statuses.map(status => ({ status })) } : {}
  const also = {
    ...(id !== undefined && keyId !== undefined ? { key_id: [keyId] } : {}),
    ...(statuses ? { status: statuses } : {}),
  }
  const oneOf = [id === undefined ? { key_id: keyId as string } : { id }]
  return Object.keys(also).length === 0 ? { oneOf } : { oneOf, also }
}

/** The host's pay-in records. Writes work in the caller's transaction. */
export const payins = {
  find: payinTable.find,
  /** Reads a page of the account's pay-ins, newest first. See `readNewest`. */
  page(
    db: SqlQueries,
    accountId: string,
    page: NewestPage,
    filter: PayinFilter = {},
  ): Promise<{ readonly rows: readonly Payin[]; readonly next: Place | undefined }> {
    const { matches } = filter
    const of = { ...page, accountId, filter: rowFilter(filter) }
    // Only a search reads the properties.
    return matches ? readNewest(db, listedPayinTable, { ...of, matches }) : readNewest(db, payinTable, of)
  },
  /** Locks a pay-in of an account until the transaction ends, so that moves happen one after another. */
  lock: payinTable.lock,
  /**
   * Locks a pay-in that can be paid, has no transfer and is due at `until`. Undefined: the pay-in was paid, ended or got a
   * transfer meanwhile, or another transaction has locked it.
   */
  async lockDue(tx: SqlQueries, accountId: string, id: string, until: EpochMs): Promise<Payin | undefined> {
    const conditions = `where account_id = $1 and id = $2 and due_at <= $3 and transfer_tx is null
      and status in ('awaiting_payment', 'confirming')${rowLock(tx, 'for update skip locked')}`
    return (await payinTable.select(tx, conditions, [accountId, id, until]))[0]
  },
  /** Returns the account of a pay-in that can be paid; undefined for any other id. For operators, who know only the id. */
  async accountOfOpen(db: SqlQueries, id: string): Promise<string | undefined> {
    const [row] = await rows(db, 'select account_id from gw_open_payins where payin_id = $1', [id])
    return row && toText(row['account_id'])
  },
  /**
   * Adds a pay-in, one per effect, in the round trip of the next statement. When the effect has one already, that statement
   * fails (`ERR_STORE_*`), so call `findOrCountOpen` first.
   */
  async insert(
    tx: SqlQueries,
    { effectId, hold }: { readonly effectId: string; readonly hold: SpendHold },
    payin: NewPayin,
    now: EpochMs,
  ): Promise<Payin> {
    const { properties, ...stored } = payin
    const { accountId, userId, subscriptionId, planId, amountCents, currency, method, payTo } = stored
    const status = 'awaiting_payment'
    const expiresAt = now + OPEN_MS
    const times = { createdAt: now, expiresAt, dueAt: expiresAt }
    const created: Payin = {
      id: newId('payin'),
      ...stored,
      description: describe(properties),
      status,
      moves: 1,
      hold,
      submittedTx: null,
      seen: null,
      ...times,
    }
    await defer(tx, INSERT, [
      created.id,
      accountId,
      userId,
      effectId,
      subscriptionId,
      planId,
      amountCents,
      currency,
      method,
      JSON.stringify(properties),
      created.description,
      JSON.stringify(hold),
      ...(payTo
        ? [payTo.chainId, payTo.asset, payTo.token, payTo.address, payTo.ownReceiver ? 1 : 0]
        : [null, null, null, null, 0]),
      payTo ? payTo.units.toString() : null,
      payTo?.payer ?? null,
      now,
      expiresAt,
      payin.operation,
      payin.keyId,
    ])
    await defer(tx, INSERT_MOVE, [accountId, created.id, 1, null, status, 'created', null, now])
    await addOpenPayin(tx, created)
    if (payTo?.ownReceiver)
      await defer(tx, ASSIGN_ADDRESS, [accountId, created.id, payTo.chainId, payTo.address])
    return created
  },
  /** Finds the pay-in of an effect, for a request that is repeated after its idempotency record expired. */
  async findByEffect(tx: SqlQueries, accountId: string, effectId: string): Promise<Payin | undefined> {
    const conditions = 'where account_id = $1 and effect_id = $2'
    return (await payinTable.select(tx, conditions, [accountId, effectId]))[0]
  },
  /**
   * Finds the pay-in of an effect, and counts the account's pay-ins that can still be paid. Lock the account before, so that none is added
   * meanwhile.
   */
  async findOrCountOpen(
    tx: SqlQueries,
    accountId: string,
    effectId: string,
  ): Promise<{ readonly existing: Payin | undefined; readonly open: number }> {
    const [row] = await rows(tx, FIND_OR_COUNT_OPEN, [accountId, effectId])
    const existing = typeof row?.['id'] === 'string' ? payinTable.read(row) : undefined
    return { existing, open: toInteger(row?.['open']) }
  },
  /** Moves a locked pay-in by a cause and records the move. Throws if the cause is not allowed in this status: see `nextStatus`. */
  async move(
    tx: SqlQueries,
    payin: Payin,
    cause: PayinCause,
    { seen = payin.seen, detail, now, ...change }: PayinChange,
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
      payin.accountId,
      payin.id,
      payin.moves,
    ])
    if (!row) throw new Error('the pay-in was moved by another transaction: lock it first')
    const moved = payinTable.read(row)
    const { accountId, id, moves } = moved
    await defer(tx, INSERT_MOVE, [accountId, id, moves, payin.status, to, cause, detail ?? null, now])
    await changeLookups(tx, payin, moved)
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
  async history(db: SqlQueries, accountId: string, id: string): Promise<readonly PayinMove[]> {
    const text = `select * from gw_payin_moves where account_id = $1 and payin_id = $2
      order by number desc limit $3`
    return (await rows(db, text, [accountId, id, MAX_MOVES])).toReversed().map(row => ({
      from: row['from_status'] as PayinStatus | null,
      to: row['to_status'] as PayinStatus,
      cause: row['cause'] as PayinMove['cause'],
      detail: row['detail'] as string | null,
      at: toInteger(row['at']),
    }))
  },
}
