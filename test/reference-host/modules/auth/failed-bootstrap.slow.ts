import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  newWallet,
  signedBootstrap,
  type HttpResponse,
} from '../../../harness/host.ts'
import { startOpenHost } from '../../harness/open-host.ts'
import { signIn } from '../../harness/web-sign-in.ts'

const clock = manualClock(Date.now())
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)
const bootstrap = (body: unknown): Promise<HttpResponse> => host.send('/user/v1/bootstrap', { body })
const liveKeys = async (): Promise<number> => {
  const { rows } = await db.query('select count(*) as n from gw_keys where ended_at is null', [])
  return Number((rows[0] as { n: unknown }).n)
}
const down = { status: 503, body: { error: 'service_unavailable' } }

/** Runs `work` while a table is not there. */
async function without(table: string, work: () => Promise<unknown>): Promise<void> {
  await db.query(`alter table ${table} rename to ${table}_away`, [])
  await work().finally(() => db.query(`alter table ${table}_away rename to ${table}`, []))
}

t.test('makes no key and uses up no statement while no session can be signed', async t => {
  await bootstrapUser(host.send, {}, clock.now())
  const before = await liveKeys()
  const body = await signedBootstrap(newWallet(), {}, clock.now())
  clock.advance(10_000)
  await without('gw_signing_keys', async () => {
    for (let retry = 0; retry < 3; retry++) t.match(await bootstrap(body), down)
  })
  t.equal(await liveKeys(), before)
  t.match(await bootstrap(body), { status: 200 })
})

t.test('revokes the new key when its session cannot be stored', async t => {
  const before = await liveKeys()
  await without('gw_sessions', async () => {
    t.match(await bootstrap(await signedBootstrap(newWallet(), {}, clock.now())), down)
  })
  t.equal(await liveKeys(), before)
})

t.test('opens no console and uses up no web token while no session can be signed', async t => {
  const { body } = await signIn(host.send, newWallet())
  const open = (): Promise<HttpResponse> =>
    host.send('/auth/console', { method: 'POST', headers: bearer(body['token'] as string) })
  const before = await liveKeys()
  clock.advance(10_000)
  await without('gw_signing_keys', async () => t.match(await open(), down))
  t.equal(await liveKeys(), before)
  t.match(await open(), { status: 200 })
})
