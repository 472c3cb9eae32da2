import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store'
import { postgresTransactionStorage } from '@gatewright/idempotency-store/postgres'
import { allow, keyDigest, scopeCatalogue } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { createGuard, remoteKeys, sessionReader } from '@gatewright/scope-guard'
import express, { type Express } from 'express'
import { z } from 'zod'

export function payments(db: SqlClient, issuer: string, partnerKey: string, print = console.log): Express {
  const keys = remoteKeys(new URL('/.well-known/jwks.json', issuer))
  // Digests are compared, so that the time it takes tells nothing of the key.
  const isPartner = (given = ''): boolean => keyDigest(given) === keyDigest(partnerKey)
  const api = gate({
    guard: createGuard({
      issuer,
      audience: 'https://api.example',
      keys,
      readSession: sessionReader({ preset: 'auth0' }),
    }),
    scopes: scopeCatalogue(['payments.write']),
    credentials: {
      partner: async ({ header }) =>
        isPartner(header('x-partner-key'))
          ? allow('acme')
          : { ok: false, code: 'unauthorized', status: 401, message: 'A partner key is required' },
    },
    transactions: createTransactionalIdempotency({ db, storage: postgresTransactionStorage }),
    observe: ({ operation, status, code = 'ok', replayed }) =>
      print(operation, status, code, replayed ? 'replayed' : 'first'),
  })
  const body = z.object({ amountCents: z.number().int().positive() })
  const pay = api.transactional(
    { operation: 'payments.create', allOf: ['payments.write'] },
    async ({ session, input }, { tx, effectId }) => {
      await tx.query('insert into payments (id, account, cents) values ($1, $2, $3)', [
        effectId,
        session.accountId,
        input.body.amountCents,
      ])
      return { status: 201, body: { id: effectId } }
    },
    { body },
  )
  const totals = api.guardedBy('partner', { operation: 'payments.totals', allOf: [] })
  const gw = expressGate(api, { body: 'stream' })
  const app = express()
  app.post('/payments', gw.handle(pay))
  app.get(
    '/totals',
    gw.handle(totals, async () => ({
      status: 200,
      body: (await db.query('select count(*)::int as payments from payments')).rows[0],
    })),
  )
  return app
}
