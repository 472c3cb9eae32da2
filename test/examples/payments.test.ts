import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { SignJWT } from 'jose'
import t from 'tap'
import { payments } from '../../examples/payments/app.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { signingKey } from '../scope-guard/issuer.ts'

const PARTNER_KEY = 'partner-key-of-acme-000000000001'

t.test('example payments: refuses to start with a partner key that can be guessed', async t => {
  const db = {} as SqlClient
  for (const key of ['', 'a'.repeat(31)])
    t.throws(() => payments(db, 'https://issuer.example', key), TypeError)
})

t.test(
  'example payments: one file serves foreign tokens, a partner key and transactional writes',
  async t => {
    const { privateKey, jwk } = await signingKey('RS256')
    const provider = createServer(({ url }, response) =>
      response.end(
        JSON.stringify(url === '/jwks' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/jwks` }),
      ),
    )
    await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
    t.teardown(() => provider.close())
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    const schema = uniqueName()
    const pool = await openPostgresPool(schema, 4)
    t.teardown(async () => {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    })
    const db = fromPgPool(pool)
    await migrateIdempotency(db)
    await pool.query(
      'create table payments (id text primary key, account text not null, cents bigint not null)',
    )

    const lines: string[] = []
    const print = (...words: unknown[]): unknown => lines.push(words.join(' '))
    const server = payments(db, issuer, PARTNER_KEY, print).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    t.teardown(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

    const token = await new SignJWT({ scope: 'payments.write', client_id: 'shop' })
      .setProtectedHeader({ alg: 'RS256', kid: jwk.kid as string, typ: 'at+jwt' })
      .setSubject('ann')
      .setJti('token-1')
      .setIssuer(issuer)
      .setAudience('https://api.example')
      .setIssuedAt()
      .setExpirationTime('5 min')
      .sign(privateKey)
    const pay = async (body: object, key = 'my-first-payment') => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      }
      const reply = await fetch(`${url}/payments`, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
    }
    const first = await pay({ amountCents: 500 })
    t.match(first, { status: 201, body: { id: String } })
    t.same(await pay({ amountCents: 500 }), first)
    t.match(await pay({ amountCents: -1 }, 'my-second-payment'), {
      status: 400,
      body: { field: 'amountCents' },
    })
    t.equal((await fetch(`${url}/payments`, { method: 'POST' })).status, 401)
    t.equal(
      (await fetch(`${url}/totals`, { headers: { 'x-partner-key': PARTNER_KEY.replace('acme', 'acmf') } }))
        .status,
      401,
    )
    t.equal((await fetch(`${url}/totals`)).status, 401)
    const totals = await fetch(`${url}/totals`, { headers: { 'x-partner-key': PARTNER_KEY } })
    t.same(await totals.json(), { payments: 1 })
    t.same(lines, [
      'payments.create 201 ok false',
      'payments.create 201 ok true',
      'payments.create 400 invalid_request false',
      'payments.create 401 unauthorized false',
      'payments.totals 401 unauthorized false',
      'payments.totals 401 unauthorized false',
      'payments.totals 200 ok false',
    ])
  },
)
