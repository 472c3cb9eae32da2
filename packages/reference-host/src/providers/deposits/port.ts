import * as Type from 'typebox/type'
import { idText } from '@gatewright/host/schemas'
import { catalogueMethods, Cents, Decimal } from '../catalogue.ts'
import { optional, takes, type ProviderOf } from '../port.ts'
import { orNull, orRejection, orUndefined, pageOf, reply, withId, type ReplyType } from '../reply.ts'

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

const openDeposit = reply(
  Type.Object({
    /** The provider's own id of the deposit. */
    reference: idText(),
    depositAddress: idText(128),
    /** A memo or tag that the payment must name. */
    extraId: orNull(idText(64)),
    chainId: orNull(Type.Integer({ minimum: 1 })),
    minAmount: Decimal,
    maxAmount: orNull(Decimal),
  }),
)
/** Where an account pays to. */
export type OpenDeposit = ReplyType<typeof openDeposit>

export const depositReport = reply(
  Type.Object({
    status: Type.Enum([...DEPOSIT_STATUSES]),
    /** Every payment that was credited, ever. The id of a payment is unique among all payments of the provider, and its amount never changes. */
    payments: Type.Array(Type.Object({ id: idText(80), creditedCents: { ...Cents, minimum: 1 } })),
  }),
)
/** What a provider knows about a deposit. */
export type DepositReport = ReplyType<typeof depositReport>

export const depositPort = {
  ...catalogueMethods,
  /** Opens a deposit. Same `id` again: the same address. */
  open: takes<[id: string, want: NewDeposit]>().replies(orRejection(openDeposit)),
  /** Every payment it ever saw for the deposit: an address can be paid twice. Undefined: the id is unknown. */
  find: takes<[id: string]>().replies(orUndefined(depositReport)),
  /**
   * Lists the deposits that it has opened or changed at `since` (milliseconds since 1970) or later, each once, in any order. Asked after
   * a restore of the host's database. `after` is the `next` of the page before; null for the first.
   */
  changedSince: optional(
    takes<[since: number, after: string | null]>().replies(pageOf(withId(depositReport))),
  ),
}
/** Takes payments in other assets for accounts. Time limits and faults: docs/identity-check.md. */
export type DepositProvider = ProviderOf<typeof depositPort>
