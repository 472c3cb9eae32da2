import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { idText } from '../schemas/names.ts'
import { Cents, Decimal, orNull, orRejection, type Catalogue, type ReplyCheck } from './catalogue.ts'
import type { Rejection } from './rejection.ts'
import type { MessageVerifier } from '../http/provider-messages.ts'

/** The states of a deposit. */
export const DEPOSIT_STATUSES = ['awaitingDeposit', 'processing', 'completed', 'failed'] as const
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number]

/** A deposit to be opened. */
export interface NewDeposit {
  readonly currency: string
  readonly network: string
  /** What the account means to send, in units of the asset. */
  readonly amount: string | null
}

/** Where an account pays to. */
export interface OpenDeposit {
  /** The provider's own id of the deposit. */
  readonly reference: string
  readonly depositAddress: string
  /** A memo or tag that the payment must name. */
  readonly extraId: string | null
  readonly chainId: number | null
  readonly minAmount: string
  readonly maxAmount: string | null
}

/** What a provider knows about a deposit. */
export interface DepositReport {
  readonly status: DepositStatus
  /** Every payment that was credited, ever. The id of a payment is unique among all payments of the provider, and its amount never changes. */
  readonly payments: readonly { readonly id: string; readonly creditedCents: number }[]
}

/** Takes payments in other assets for accounts. See `KycProvider` for names, time limits and faults. */
export interface DepositProvider extends Catalogue {
  readonly name: string
  /** Opens a deposit. Same `id` again: the same address. */
  open(id: string, want: NewDeposit, signal: AbortSignal): Promise<OpenDeposit | Rejection>
  /** Every payment it ever saw for the deposit: an address can be paid twice. Undefined: the id is unknown. */
  find(id: string, signal: AbortSignal): Promise<DepositReport | undefined>
  readonly verify?: MessageVerifier
}

export const validateOpenReply: ReplyCheck = orRejection(
  compileSchema(
    Type.Object({
      reference: idText(),
      depositAddress: idText(128),
      extraId: orNull(idText(64)),
      chainId: orNull(Type.Integer({ minimum: 1 })),
      minAmount: Decimal,
      maxAmount: orNull(Decimal),
    }),
  ),
)
export const validateDepositReport: ReplyCheck = compileSchema(
  Type.Object({
    status: Type.Enum([...DEPOSIT_STATUSES]),
    payments: Type.Array(Type.Object({ id: idText(80), creditedCents: { ...Cents, minimum: 1 } })),
  }),
)
