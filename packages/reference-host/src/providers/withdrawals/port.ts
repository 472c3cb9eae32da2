import * as Type from 'typebox/type'
import { idText, nameText } from '@gatewright/host/schemas'
import { catalogueMethods, Cents } from '../catalogue.ts'
import { optional, takes, type ProviderOf } from '../port.ts'
import {
  orNull,
  orRejection,
  orUndefined,
  pageOf,
  reply,
  withId,
  type Reply,
  type ReplyType,
} from '../reply.ts'

/** The states of a withdrawal. */
export const WITHDRAWAL_STATUSES = ['pending', 'ready', 'completed', 'failed'] as const
export type WithdrawalStatus = (typeof WITHDRAWAL_STATUSES)[number]

/** Where the money of a withdrawal goes. */
export interface Destination {
  readonly currency: string
  readonly network: string
  readonly address: string
  /** A memo or tag beside the address. */
  readonly extraId: string | null
}

/** A withdrawal to be sent. */
export interface NewWithdrawal {
  /** What leaves the account, fee included. */
  readonly amountCents: number
  /** The fee of the quote, which the host keeps: the provider pays out `amountCents - feeCents`. */
  readonly feeCents: number
  readonly destination: Destination
}

export const withdrawalReport = reply(
  Type.Object({
    status: Type.Enum([...WITHDRAWAL_STATUSES]),
    /** Why it failed, for the account. */
    reason: orNull(nameText(1, 200)),
    txHash: orNull(idText(128)),
    /** What it paid out, if that is another amount than `amountCents - feeCents`. */
    paidCents: orNull(Cents),
    /** Its own id of the withdrawal, and the address through which the money goes. */
    relay: orNull(
      Type.Object({
        reference: idText(),
        payinAddress: orNull(idText(128)),
        payinExtraId: orNull(idText(64)),
      }),
    ),
  }),
)
/** What a provider knows about a withdrawal. */
export type WithdrawalReport = ReplyType<typeof withdrawalReport>

const payout = reply(Type.Object({ payoutCents: Cents }))
/** A withdrawal as a provider lists it. */
const changedWithdrawal: Reply<
  WithdrawalReport & {
    readonly id: string
    /** What it pays out. */
    readonly payoutCents: number
  }
> = {
  validate: given => payout.validate(given) ?? withId(withdrawalReport).validate(given),
}

export const withdrawalPort = {
  ...catalogueMethods,
  /** Sends at most once per `id`, whoever calls, however often. A thrown fault means: unknown. */
  send: takes<[id: string, want: NewWithdrawal]>().replies(orRejection(withdrawalReport)),
  /** Undefined: `id` never arrived, and never will unless it is sent again. */
  find: takes<[id: string]>().replies(orUndefined(withdrawalReport)),
  /**
   * Lists the withdrawals that it has received or changed at `since` (milliseconds since 1970) or later, each once, in any order. Asked
   * after a restore of the host's database. `after` is the `next` of the page before; null for the first.
   */
  changedSince: optional(takes<[since: number, after: string | null]>().replies(pageOf(changedWithdrawal))),
}
/** Pays out money of accounts in other assets. Time limits and faults: docs/identity-check.md. */
export type WithdrawalProvider = ProviderOf<typeof withdrawalPort>
