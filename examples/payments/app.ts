import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { allow, keyDigest, scopeCatalogue } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { createGuard } from '@gatewright/scope-guard'
import express, { type Express } from 'express'
import { z } from 'zod'

const COUNT = 'select count(*)::int as payments from payments'
const MIN_KEY_LENGTH = 32
const noPartner = { ok: false, code: 'unauthorized', status: 401, message: 'Send X-Partner-Key' } as const

export function payments(db: SqlClient, issuer: string, partnerKey: string, print = console.log): Express {
  if (partnerKey.length < MIN_KEY_LENGTH)
    throw new TypeError(`partnerKey must have at least ${MIN_KEY_LENGTH} characters`)
  // Digests are compared, so that the time it takes reveals nothing about the key.
  const isPartner = (given: string | undefined): boolean =>
    given !== undefined && keyDigest(given) === keyDigest(partnerKey)
  const api = gate({
    guard: createGuard({ issuer, audience: 'https://api.example' }),
    scopes: scopeCatalogue(['payments.write']),
    credentials: {
      partner: async ({ header }) => (isPartner(header('x-partner-key')) ? allow('acme') : noPartner),
    },
    transactions: createTransactionalIdempotency({ db, storage: postgresTransactionalIdempotency }),
    observe: ({ operation, status, code = 'ok', replayed }) => print(operation, status, code, replayed),
  })
  const pay = api.transactional(
    { operation: 'payments.create', allOf: ['payments.write'] },
    async ({ session, input }, { tx, effectId: id }) => {
      const values = [id, session.accountId, input.body.amountCents]
      await tx.query('insert into payments (id, account, cents) values ($1, $2, $3)', values)
      return { status: 201, body: { id } }
    },
    { body: z.object({ amountCents: z.number().int().positive() }) },
  )
  const count = async () => ({ status: 200, body: (await db.query(COUNT)).rows[0] })
  const totals = api.guardedBy('partner', { operation: 'payments.totals', allOf: [] })
  const gw = expressGate(api, { body: 'stream' })
  const app = express()
  app.post('/payments', gw.handle(pay))
  app.get('/totals', gw.handle(totals, count))
  return app
}
