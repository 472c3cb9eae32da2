import express, { type Express } from 'express'
import { nothingHappened } from 'gatewright'
import { gatewright, type ExpressOptions } from 'gatewright/express'
import { z } from 'zod'

/** The options that are the same wherever the server runs. `main.ts` adds the store. */
export const options = {
  issuer: 'https://YOUR-TENANT.auth0.com/',
  audience: 'https://payments.example',
  provider: 'auth0',
  policy: { dailySpendCapCents: 10_000 },
} as const satisfies Omit<ExpressOptions, 'store'>

/** Your payment processor, which pays once for each idempotency key. */
type Pay = (payment: { amountCents: number }, once: { idempotencyKey: string }) => Promise<{ status: string }>

/** Makes the server. */
export function createApp(options: ExpressOptions, pay: Pay): Express {
  const gw = gatewright(options)
  const createPayment = gw.write(
    'payments.create',
    {
      scope: 'payments.write',
      body: z.object({ amountCents: z.number().int().positive() }),
      spends: body => ({ amountCents: body.amountCents, currency: 'USD' }),
    },
    async ({ body, effectId }) => {
      const { status } = await pay(body, { idempotencyKey: effectId }).catch(error => {
        // Refused connections have sent nothing. After a time-out, nobody knows.
        throw error.code === 'ECONNREFUSED' ? nothingHappened(error) : error
      })
      if (status === 'declined') return { status: 402, body: { error: 'payment_declined' } }
      return { status: 201, body: { id: effectId } }
    },
  )
  return express().post('/payments', createPayment)
}
