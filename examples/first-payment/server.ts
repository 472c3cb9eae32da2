import express from 'express'
import { gatewright, memoryStore } from 'gatewright/express'
import { z } from 'zod'

const gw = gatewright({
  issuer: process.env['ISSUER'] ?? 'https://YOUR-TENANT.auth0.com/',
  audience: 'https://payments.example',
  provider: 'auth0',
  policy: { dailySpendCapCents: 10_000 }, // for every account; or policies: session => [...]
  store: memoryStore(), // or redisStore(client), postgresStore(pool), sqliteStore(database)
})

export const app = express()
app.post('/payments', gw.write('payments.create', {
  scope: 'payments.write',
  body: z.object({ amountCents: z.number().int().positive() }),
  spends: body => ({ amountCents: body.amountCents, currency: 'USD' }),
}, ({ body, effectId }) => {
  // Pay here, with effectId as your payment processor's idempotency key.
  return { status: 201, body: { id: effectId, ...body } }
}))
