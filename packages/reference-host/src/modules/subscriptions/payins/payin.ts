import type { EpochMs } from '@gatewright/kernel'
import { toInteger, toText, type SqlRow } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import type { PayinCause, PayinStatus } from './states.ts'

/** Where a pay-in is paid on a chain, fixed when it is made. Addresses in lower case. */
export interface PayTo {
  readonly chainId: number
  readonly asset: string
  readonly token: string
  readonly address: string
  /** The exact amount, in the token's smallest unit. */
  readonly units: bigint
  /** The account's wallet, which must send; null: `ownReceiver` tells whose payment it is. */
  readonly payer: string | null
  /** Whether the address serves this pay-in only, ever. */
  readonly ownReceiver: boolean
}

/** What a pay-in request asks for. */
export interface NewPayin {
  readonly accountId: string
  readonly userId: string | null
  /** The operation that asked for it: limits on that operation bind its payment too. */
  readonly operation: string
  readonly subscriptionId: string | null
  readonly planId: string | null
  /** Integer US cents, 1 to 100 000 000. */
  readonly amountCents: number
  readonly currency: 'USD'
  readonly method: 'onchain' | 'balance'
  /** Properties of the request that have no meaning here, kept as they came. */
  readonly properties: Readonly<Record<string, unknown>>
  readonly payTo: PayTo | null
}

/** A transfer that was seen on the chain for a pay-in. */
export interface SeenTransfer {
  readonly txHash: string
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: string
}

/** A stored pay-in. */
export interface Payin extends NewPayin {
  readonly id: string
  /** Its place among all pay-ins, in the order they were made. */
  readonly position: number
  readonly status: PayinStatus
  /** How many moves were recorded, its making included. */
  readonly moves: number
  /** The spend that its policies hold for it, until it ends. */
  readonly hold: SpendHold
  /** The transaction that the client named. */
  readonly submittedTx: string | null
  readonly seen: SeenTransfer | null
  readonly createdAt: EpochMs
  /** It can be paid while `now < expiresAt`; a transfer under way may still settle it after. */
  readonly expiresAt: EpochMs
  /** When it may be ended: its deadline, or later where a payment that was seen may come back. */
  readonly dueAt: EpochMs
}

/** One recorded step of a pay-in. */
export interface PayinMove {
  readonly from: PayinStatus | null
  readonly to: PayinStatus
  readonly cause: PayinCause | 'created'
  /** More about the cause, such as a transaction's hash. */
  readonly detail: string | null
  readonly at: EpochMs
}

const textOrNull = (value: unknown): string | null => (value === null ? null : toText(value))

/** Reads a row of the pay-in table. Fault: `ERR_STORE_REPLY`. */
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
    properties: JSON.parse(toText(row['properties'])) as Payin['properties'],
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
