import type { EpochMs } from '@gatewright/kernel'
import { storableText } from '@gatewright/kernel/internal'
import type { SqlRow } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
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

/** The members of a request that say what its pay-in is for, in this order. */
const DESCRIBING = ['description', 'orderId', 'reference'] as const
/** The longest description, in characters. */
const LONGEST_DESCRIPTION = 120

/** Says what a pay-in is for, in one line: "Order 1003". A member that another one has in it is left out. Null: its properties do not say it. */
export function describe(properties: NewPayin['properties']): string | null {
  const parts: string[] = []
  for (const name of DESCRIBING) {
    const value = properties[name]
    const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
    const line = text.replaceAll(/\s+/g, ' ').trim()
    if (line !== '' && !parts.some(part => part.includes(line))) parts.push(line)
  }
  return parts.length === 0 ? null : storableText(parts.join(' · '), LONGEST_DESCRIPTION)
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
  /** What it is for, from the properties: see `describe`. */
  description: nullable(text),
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
/** The same rows with the unused members of the requests, for searches. */
export const listedPayinTable = {
  name: payinTable.name,
  columns: `${payinTable.columns}, properties`,
  read: (row: SqlRow): ListedPayin => ({
    ...payinTable.read(row),
    properties: JSON.parse(toText(row['properties'])) as NewPayin['properties'],
  }),
}

/** A pay-in with the unused members of its request. */
export type ListedPayin = Row<typeof payinTable> & Pick<NewPayin, 'properties'>

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
