import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { idText, nameText } from '../schemas/names.ts'
import { Cents, orNull, orRejection, type Catalogue, type ReplyCheck } from './catalogue.ts'
import type { Rejection } from './rejection.ts'
import type { MessageVerifier } from '../http/provider-messages.ts'

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

/** What a provider knows about a withdrawal. */
export interface WithdrawalReport {
  readonly status: WithdrawalStatus
  /** Why it failed, for the account. */
  readonly reason: string | null
  readonly txHash: string | null
  /** What it paid out, if that is another amount than `amountCents - feeCents`. */
  readonly paidCents: number | null
  /** Its own id of the withdrawal, and the address through which the money goes. */
  readonly relay: {
    readonly reference: string
    readonly payinAddress: string | null
    readonly payinExtraId: string | null
  } | null
}

/** Pays out money of accounts in other assets. See `KycProvider` for names, time limits and faults. */
export interface WithdrawalProvider extends Catalogue {
  readonly name: string
  /** Sends at most once per `id`, whoever calls, however often. A thrown fault means: unknown. */
  send(id: string, want: NewWithdrawal, signal: AbortSignal): Promise<WithdrawalReport | Rejection>
  /** Undefined: `id` never arrived, and never will unless it is sent again. */
  find(id: string, signal: AbortSignal): Promise<WithdrawalReport | undefined>
  readonly verify?: MessageVerifier
}

export const validateWithdrawalReport: ReplyCheck = compileSchema(
  Type.Object({
    status: Type.Enum([...WITHDRAWAL_STATUSES]),
    reason: orNull(nameText(1, 200)),
    txHash: orNull(idText(128)),
    paidCents: orNull(Cents),
    relay: orNull(
      Type.Object({
        reference: idText(),
        payinAddress: orNull(idText(128)),
        payinExtraId: orNull(idText(64)),
      }),
    ),
  }),
)
export const validateSendReply: ReplyCheck = orRejection(validateWithdrawalReport)
