// A server of `gatewright/express` that kills itself at one statement of its requests, or around the request to its processor.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { manualClock } from '@gatewright/kernel/testing'
import { localKeys } from '@gatewright/scope-guard'
import express from 'express'
import { gatewright } from 'gatewright/express'
import { postgresStore } from 'gatewright/postgres'
import { sqliteStore } from 'gatewright/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { at, obey, type Message, type Order } from '../../harness/databases/statement-kills.ts'
import { AUDIENCE, ISSUER } from '../../scope-guard/issuer.ts'
import { handlers, writeAmount } from '../operations.ts'
import type { Processor } from '../world.ts'
import { recoverBy } from './processor.ts'

const env = process.env as Record<'PROCESSOR' | 'JWK' | 'NOW' | 'CAP' | 'LEASE_MS', string> &
  NodeJS.ProcessEnv
const clock = manualClock(Number(env.NOW))
const { POSTGRES_URL, SCHEMA, SQLITE_FILE = '', DECIDED_BY } = env

const processor: Processor = {
  calls: [],
  async pay(amountCents, effectId) {
    at('before', 'the processor')
    const request = fetch(`${env.PROCESSOR}/${effectId}`, { method: 'POST', body: `${amountCents}` })
    at('during', 'the processor')
    const response = await request
    at('after', 'the processor')
    return (await response.text()) as 'paid' | 'declined'
  },
}

const store = POSTGRES_URL
  ? postgresStore(
      new pg.Pool({ connectionString: POSTGRES_URL, max: 4, options: `-c search_path=${SCHEMA}` }),
    )
  : sqliteStore(new Database(SQLITE_FILE))
const gw = gatewright({
  issuer: ISSUER,
  audience: AUDIENCE,
  provider: 'auth0',
  policy: { dailySpendCapCents: Number(env.CAP) },
  store,
  clock,
  guard: { keys: localKeys({ keys: [JSON.parse(env.JWK)] }) },
  // Nothing of a dead process ends, so waiting for it would only take time here.
  idempotency: {
    waitMs: 0,
    leaseMs: Number(env.LEASE_MS),
    ...(DECIDED_BY === 'recover' ? { recover: recoverBy(env.PROCESSOR) } : {}),
  },
})

const handle = handlers(processor)
const app = express()
app.post('/payments', gw.write('payments.create', writeAmount, handle.pay))
app.post('/refundable', gw.write('refundable.create', writeAmount, handle.payHalf))

process.on('message', (order: Order) => {
  const statements = obey(order)
  clock.set(order.now)
  process.send?.({ statements } satisfies Message)
})
process.on('disconnect', () => process.exit())
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } satisfies Message)
