import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ledgerAccounts } from '@gatewright/host/internal'
import t from 'tap'
import { newSession, startOwnHost } from '../../examples/own-host/host.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatewright-own-host-'))
const host = await startOwnHost({ DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' })
t.teardown(async () => {
  await host.close()
  rmSync(folder, { recursive: true })
})

const { services } = host
const token = await newSession(services, 'ann', { dailySpendCapCents: 1000 })
await services.db.transaction(tx => {
  const credit = { id: 'credit:1', credit: ledgerAccounts.user('ann'), amountCents: 5000, cause: 'credit' }
  return services.ledger.transfer(tx, { ...credit, debit: 'outside:test' }, 1)
})

async function send(method: string, body?: object, key = ''): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${host.url}/user/v1/tips`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': 'application/json', 'idempotency-key': key } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, body: await response.json() }
}

t.test('example own-host: gives a tip once, and lists it', async t => {
  const tip = { artist: 'ada', amountCents: 600 }
  const given = await send('POST', tip, 'my-first-tip')
  t.match(given, { status: 200, body: { ok: true, data: { tip } } })
  t.same(await send('POST', tip, 'my-first-tip'), given)
  t.match(await send('GET'), { status: 200, body: { data: { tips: [tip], nextCursor: null } } })
  t.equal(await services.ledger.balance(services.db, ledgerAccounts.user('ann')), 4400)
  t.equal(await services.ledger.balance(services.db, 'house:tips'), 600)
})

t.test('example own-host: denies a tip above the cap of the key, and moves nothing', async t => {
  const denied = await send('POST', { artist: 'ada', amountCents: 401 }, 'my-second-tip')
  t.match(denied, { status: 403, body: { error: 'policy_blocked' } })
  t.equal(await services.ledger.balance(services.db, 'house:tips'), 600)
  t.equal((await send('POST', { artist: 'ada', amountCents: 400 }, 'my-third-tip')).status, 200)
})

t.test('example own-host: describes its operations, and denies what is malformed', async t => {
  const { paths } = (await (await fetch(`${host.url}/openapi.json`)).json()) as { paths: object }
  t.same(Object.keys(paths), [
    '/user/v1/tips',
    '/providers/{name}/events',
    '/.well-known/jwks.json',
    '/openapi.json',
    '/healthz',
    '/readyz',
    '/metrics',
  ])
  t.match(await send('POST', { artist: 'ada', amountCents: 0 }, 'my-fourth-tip'), { status: 400 })
  t.equal((await fetch(`${host.url}/user/v1/tips`)).status, 401)
  t.equal((await fetch(`${host.url}/readyz`)).status, 200)
})
