import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { scopeCatalogue } from '@gatewright/kernel'
import { createGuard, sessionReader } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import express from 'express'
import { z } from 'zod'

const issuer = process.env['ISSUER'] ?? 'https://YOUR-TENANT.auth0.com/'
const guard = createGuard({
  issuer,
  audience: 'https://payments.example',
  readSession: sessionReader({ preset: 'auth0', policyIds: () => ['everybody'] }),
  policies: async ids => ids.map(() => ({ dailySpendCapCents: 10_000 })),
  spend: memorySpends(),
})
const idempotency = createIdempotency({ storage: memoryIdempotency() })
const api = gate({ guard, idempotency, scopes: scopeCatalogue(['payments.write']) })
const pay = api.idempotent(
  { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' },
  {
    body: z.object({ amountCents: z.number().int().positive() }),
    amount: ({ input }) => ({ ...input.body, currency: 'USD' }), // reserved under every cap of the caller
  },
)

export const app = express()
const http = expressGate(api, { body: 'stream' })
const payment = http.handle(pay, async ({ input, effect }) => {
  // Pay here, with effect.effectId as the processor's idempotency key. The 201 counts the amount as spent.
  return { status: 201, body: { id: effect.effectId, ...input.body } }
})
app.post('/payments', payment)
