import type { EpochMs } from '@gatewright/kernel'
import type { SpendHold } from '@gatewright/scope-guard'
import {
  type Row,
  digits,
  flag,
  instant,
  integer,
  json,
  named,
  nullable,
  nullableGroup,
  oneOf,
  position,
  table,
  text,
} from '@gatewright/host/tables'
import type { PayinCause, PayinStatus } from './states.ts'

/** The address and amount by which a pay-in is paid on a chain, fixed at its creation. Addresses are in lower case. */
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
  /** The API key that requested it. */
  readonly keyId: string | null
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

/** The pay-ins of all accounts. Unused request members are left out, because they may be large. */
export const payinTable = table('gw_payins', {
  id: text,
  /** Position among all pay-ins, in order of creation. */
  position,
  accountId: text,
  userId: nullable(text),
  keyId: nullable(text),
  operation: text,
  subscriptionId: nullable(text),
  planId: nullable(text),
  amountCents: integer,
  currency: oneOf<NewPayin['currency']>(),
  method: oneOf<NewPayin['method']>(),
  status: oneOf<PayinStatus>(),
  /** Number of recorded moves, its creation included. */
  moves: integer,
  /** The hold under the caller's policies until the pay-in closes. */
  hold: json<SpendHold>(),
  payTo: nullableGroup({
    chainId: integer,
    asset: text,
    token: text,
    address: named('pay_to', text),
    units: digits,
    payer: nullable(text),
    ownReceiver: flag,
  }),
  /** The transaction that the client submitted. */
  submittedTx: nullable(text),
  seen: nullableGroup({
    txHash: named('transfer_tx', text),
    logIndex: named('transfer_log', integer),
    blockNumber: named('transfer_block', integer),
    blockHash: named('transfer_block_hash', text),
  }),
  createdAt: instant,
  /** It can be paid while `now < expiresAt`. A transfer that is confirming may still settle it later. */
  expiresAt: instant,
  /** When it may be closed: at its deadline, or later while a removed transfer may be mined again. */
  dueAt: instant,
})
/** A stored pay-in. A new one has no position yet. */
export type Payin = Omit<Row<typeof payinTable>, 'position'>

/** One recorded move of a pay-in. */
export interface PayinMove {
  readonly from: PayinStatus | null
  readonly to: PayinStatus
  readonly cause: PayinCause | 'created'
  /** Details of the cause, such as a transaction hash. */
  readonly detail: string | null
  readonly at: EpochMs
}
