import type { AmountLike } from '@gatewright/http/internal'
import type { ReadRequest, WriteRequest } from 'gatewright'
import { z } from 'zod'
import type { Processor } from './world.ts'

const payment = z.object({ amountCents: z.number().int().nonnegative() })
type Payment = z.infer<typeof payment>
const spends = ({ amountCents }: Payment): AmountLike => ({ amountCents, currency: 'USD' })

export const write = { scope: 'payments.write' } as const
export const writeAmount = { ...write, body: payment, spends }
export const withdraw = { ...write, body: payment, spends: 'withdrawal' } as const
export const read = {
  scope: 'payments.read',
  query: z.object({ limit: z.coerce.number().optional() }),
  params: z.object({ id: z.string() }),
} as const

/** The handlers of the suite, which are the same in every framework. */
export function handlers({ pay }: Processor) {
  return {
    async pay({ body, effectId }: WriteRequest<Payment>) {
      if ((await pay(body.amountCents, effectId)) === 'declined')
        return { status: 402, body: { error: 'payment_declined' } }
      return { status: 201, body: { id: effectId, ...body } }
    },
    async payHalf({ body, effectId, hold }: WriteRequest<Payment>) {
      const halfCents = body.amountCents / 2
      await pay(halfCents, effectId)
      hold.settle(halfCents)
      return { status: 201, body: { id: effectId } }
    },
    async withdraw({ body, effectId, reserve, spendsNothing }: WriteRequest<Payment>) {
      if (body.amountCents === 0) {
        spendsNothing()
        return { status: 200, body: { withdrawn: 0 } }
      }
      const hold = await reserve({ amountCents: body.amountCents, currency: 'USD' })
      if (!hold.ok) return hold
      await pay(body.amountCents, effectId)
      hold.value.settle()
      return { status: 201, body: { id: effectId } }
    },
    find: ({ session, query, params }: ReadRequest<{ limit?: number | undefined }, { id: string }>) => ({
      status: 200,
      body: { ...params, ...query, owner: session.accountId },
    }),
    status: () => ({ status: 200, body: { up: true } }),
  }
}
