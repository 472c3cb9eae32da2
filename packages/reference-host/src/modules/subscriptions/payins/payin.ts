import type { EpochMs } from '@gatewright/kernel'
import { toInteger, toText, type SqlRow } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import type { PayinCause, PayinStatus } from './states.ts'

/** Where a pay-in is paid on a chain, fixed at its creation. Addresses are in lower case. */
export interface PayTo {
  readonly chainId: number
  readonly asset: string
  readonly token: string
  readonly address: string
  /** The exact amount, in the token's smallest unit. */
  readonly units: bigint
  /** The account's wallet, which must be the sender. Null when anybody may send to the deposit address. */
  readonly payer: string | null
  /** Whether the address serves this pay-in only. */
  readonly ownReceiver: boolean
}

/** The details of a new pay-in. */
export interface NewPayin {
  readonly accountId: string
  readonly userId: string | null
  /** The operation that requested it. Limits on that operation apply to its payment too. */
  readonly operation: string
  readonly subscriptionId: string | null
  readonly planId: string | null
  /** Integer US cents, 1 to 100 000 000. */
  readonly amountCents: number
  readonly currency: 'USD'
  readonly method: 'onchain' | 'balance'
  /** Request members that the host does not use, kept unchanged. */
  readonly properties: Readonly<Record<string, unknown>>
  readonly payTo: PayTo | null
}

/** A transfer that was seen on a chain for a pay-in. */
export interface SeenTransfer {
  readonly txHash: string
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: string
}

/** A stored pay-in, without the members of its request that the host does not use: they may be large. */
export interface Payin extends Omit<NewPayin, 'properties'> {
  readonly id: string
  /** Position among all pay-ins, in order of creation. */
  readonly position: number
  readonly status: PayinStatus
  /** Number of recorded moves, its creation included. */
  readonly moves: number
  /** The spend that the caller's policies hold until the pay-in closes. */
  readonly hold: SpendHold
  /** The transaction that the client submitted. */
  readonly submittedTx: string | null
  readonly seen: SeenTransfer | null
  readonly createdAt: EpochMs
  /** It can be paid while `now < expiresAt`. A transfer that is confirming may still settle it later. */
  readonly expiresAt: EpochMs
  /** When it may be closed: at its deadline, or later while a lost transfer may be mined again. */
  readonly dueAt: EpochMs
}

/** One recorded step of a pay-in. */
export interface PayinMove {
  readonly from: PayinStatus | null
  readonly to: PayinStatus
  readonly cause: PayinCause | 'created'
  /** Details of the cause, such as a transaction hash. */
  readonly detail: string | null
  readonly at: EpochMs
}

const textOrNull = (value: unknown): string | null => (value === null ? null : toText(value))

/** The columns that `toPayin` reads. */
export const PAYIN_COLUMNS = `position, id, account_id, user_id, operation, subscription_id, plan_id, amount_cents, currency, method,
  status, moves, hold, chain_id, asset, token, pay_to, own_receiver, units, payer, submitted_tx, transfer_tx, transfer_log,
  transfer_block, transfer_block_hash, created_at, expires_at, due_at`

/** Converts a row of the pay-in table. Fault: `ERR_STORE_REPLY`. */
export function toPayin(row: SqlRow): Payin {
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    userId: textOrNull(row['user_id']),
    operation: toText(row['operation']),
    subscriptionId: textOrNull(row['subscription_id']),
    planId: textOrNull(row['plan_id']),
    amountCents: toInteger(row['amount_cents']),
    currency: toText(row['currency']) as Payin['currency'],
    method: toText(row['method']) as Payin['method'],
    status: toText(row['status']) as PayinStatus,
    moves: toInteger(row['moves']),
    hold: JSON.parse(toText(row['hold'])) as SpendHold,
    payTo: row['chain_id'] === null ? null : toPayTo(row),
    submittedTx: textOrNull(row['submitted_tx']),
    seen: row['transfer_tx'] === null ? null : toSeen(row),
    createdAt: toInteger(row['created_at']),
    expiresAt: toInteger(row['expires_at']),
    dueAt: toInteger(row['due_at']),
  }
}

function toPayTo(row: SqlRow): PayTo {
  return {
    chainId: toInteger(row['chain_id']),
    asset: toText(row['asset']),
    token: toText(row['token']),
    address: toText(row['pay_to']),
    units: BigInt(toText(row['units'])),
    payer: textOrNull(row['payer']),
    ownReceiver: toInteger(row['own_receiver']) === 1,
  }
}

function toSeen(row: SqlRow): SeenTransfer {
  return {
    txHash: toText(row['transfer_tx']),
    logIndex: toInteger(row['transfer_log']),
    blockNumber: toInteger(row['transfer_block']),
    blockHash: toText(row['transfer_block_hash']),
  }
}
