// Commands on webhooks and events, and what they leave in the audit log. Their statements are tested on both databases with the deliveries.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import * as internals from '../../harness/internals.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { temporaryFolder } from '../../harness/files.ts'

type Row = Readonly<Record<string, unknown>>

const EVENT = 'evt_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2'
const publish = (db: SqlClient, recipientId: string, position: number, eventId: string): Promise<unknown> => {
  const body = JSON.stringify({
    type: 'deposit.completed',
    data: { userId: 'user-1', id: `dep_${position}` },
  })
  const insert = `insert into gw_published_events (recipient_id, lane, position, event_id, body, published_at)
    values ($1, 0, $2, $3, $4, $2)`
  return rows(db, insert, [recipientId, position, eventId, body])
}

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)
async function json<T = Row>(...args: string[]): Promise<T> {
  return jsonOf(await gatewright(...args, '--json'))
}
const { partnerId } = await json<{ partnerId: string }>('partner-keys', 'create', 'Acme')
const url = 'http://127.0.0.1:4000/hooks?token=secret-of-the-owner'
const { endpointId, secret } = await json<{ endpointId: string; secret: string }>(
  'webhooks',
  'add',
  partnerId,
  url,
)

await t.test('adds endpoints of partners and of the operator, and no other', async t => {
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.match(await gatewright('webhooks', 'add', 'operator', 'https://ops.example/hooks'), {
    code: 0,
    output: /Endpoint we_\w+ of operator[^]*whsec_[^]*shown only now/,
  })
  t.match(await gatewright('webhooks', 'add', 'ptn_none', url), {
    code: 1,
    output: /no partner ptn_none: see npx gatewright partner-keys list/,
  })
  t.match(await gatewright('webhooks', 'add', partnerId, 'ftp://shop.example'), {
    code: 2,
    output: /URL must be http or https/,
  })
  t.match(await json<Row[]>('webhooks', 'list'), [
    { recipientId: 'operator', state: 'working', lastResult: null },
    { endpointId, recipientId: partnerId, url, state: 'working' },
  ])
  t.notMatch((await gatewright('webhooks', 'list')).output, secret)
})

await t.test('rotates the secret, stops and continues an endpoint', async t => {
  const rotated = await json<{ secret: string }>('webhooks', 'rotate', endpointId)
  t.match(rotated.secret, /^whsec_/)
  t.not(rotated.secret, secret)
  await gatewright('webhooks', 'disable', endpointId)
  const stateOf = async (): Promise<unknown> =>
    (await json<Row[]>('webhooks', 'list')).find(each => each['endpointId'] === endpointId)
  t.match(await stateOf(), { state: 'disabled', disabledFor: 'operator' })
  await gatewright('webhooks', 'enable', endpointId)
  t.match(await stateOf(), { state: 'working', disabledFor: null })
  for (const verb of ['rotate', 'disable', 'enable'])
    t.match(await gatewright('webhooks', verb, 'we_none'), { code: 1, output: /no endpoint we_none/ })
})

await t.test('lists events, and sends one again', async t => {
  const { db, close } = openDatabaseOf(env)
  await publish(db, partnerId, 1, EVENT)
  await publish(db, 'ptn_other', 2, 'evt_other')
  await close()
  t.match(await json<Row[]>('events', 'tail'), [{ eventId: EVENT }, { eventId: 'evt_other' }])
  const ofPartner = await json<Row[]>('events', 'tail', '--recipient', partnerId)
  t.match(ofPartner, [{ eventId: EVENT, type: 'deposit.completed', userId: 'user-1', objectId: 'dep_1' }])
  t.equal(ofPartner.length, 1)
  t.same(await json<Row[]>('webhooks', 'retries'), [])
  t.match(await gatewright('events', 'replay', EVENT), {
    code: 0,
    output: `${EVENT} will be sent to ${endpointId}.`,
  })
  t.match(await json<Row[]>('webhooks', 'retries'), [{ eventId: EVENT, endpointId, attempts: 0 }])
  t.match(await gatewright('events', 'replay', 'evt_none'), { code: 1, output: /no published event/ })
  t.match(await gatewright('events', 'replay', EVENT, '--endpoint', 'we_none'), {
    code: 1,
    output: /has no such endpoint/,
  })
  t.match(await gatewright('events', 'tail', '--limit', '1001'), { code: 2 })
})

await t.test('keeps what operators changed, without secrets', async t => {
  const actions = await json<{ command: string; detail: string }[]>('audit', 'operator')
  t.same(actions.map(({ command }) => command).toSorted(), [
    'events replay',
    'webhooks add',
    'webhooks add',
    'webhooks disable',
    'webhooks enable',
    'webhooks rotate',
  ])
  t.match(actions.find(({ command }) => command === 'events replay')?.detail, `${EVENT} to ${endpointId}`)
  t.notMatch(JSON.stringify(actions), /whsec_|secret-of-the-owner/)
})

await t.test('goes on to print events beside hosts', async t => {
  const { env, drop } = await keptHostStoresEnv('postgres')
  const { db, close } = openDatabaseOf(env)
  t.teardown(async () => {
    await close()
    await drop()
  })
  await internals.migrateHost(db)
  await publish(db, 'ptn_other', 2, 'evt_other')

  const args = [PROGRAMS.command, 'events', 'tail', '--follow', '--limit', '1']
  const tail = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(tail, 'exit')
  const lines = createInterface({ input: tail.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string) as unknown
  t.match(await line(), { eventId: 'evt_other' })
  for (const position of [3, 4]) await publish(db, partnerId, position, `evt_${position}`)
  t.match(await line(), { eventId: 'evt_3', objectId: 'dep_3' })
  t.match(await line(), { eventId: 'evt_4' })
  tail.kill()
  await exited
})
