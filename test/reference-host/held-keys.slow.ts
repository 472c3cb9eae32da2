// A key that is held since a restore is denied wherever a key is presented.
import { rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser, newWallet, type HttpResponse } from '../harness/host.ts'
import { startOpenHost } from './harness/open-host.ts'
import { webToken } from './harness/web-sign-in.ts'

const clock = manualClock(Date.now())
const { host, db, close } = await startOpenHost(clock, { DIRECT_USER_KEY: 'on' })
t.teardown(close)
const { send } = host

const user = await bootstrapUser(send, {}, clock.now())
const child = await send('/user/v1/keys', { body: {}, headers: bearer(user.token) })
const rotated = await send('/user/v1/keys', { body: {}, headers: bearer(user.token) })
const rotation = await send(`/user/v1/keys/${String(rotated.body['userKeyId'])}/rotate`, {
  body: {},
  headers: bearer(user.token),
})
const keyOf = ({ body }: HttpResponse): string => body['userApiKey'] as string
const exchange = (key: string): Promise<HttpResponse> =>
  send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
const asPartner = (path: string, body: object): Promise<HttpResponse> =>
  send(path, { body, headers: { 'x-partner-key': host.partnerKey } })

const HOLD_ALL = 'insert into gw_held_keys (key_id, account_id, held_at) select id, account, 1 from gw_keys'

/** Where a key is presented. */
const USES: Readonly<Record<string, () => Promise<HttpResponse>>> = {
  'a root key is exchanged': () => exchange(user.key),
  'a key below it is exchanged': () => exchange(keyOf(child)),
  'the successor of a rotated key is exchanged': () => exchange(keyOf(rotation)),
  'a key comes in place of a session': () => send('/user/v1/users', { headers: { 'x-user-key': user.key } }),
  'a key comes as the bearer token': () => send('/user/v1/users', { headers: bearer(user.key) }),
  'a partner key resolves a user': () => asPartner('/partner/v1/users/resolve', { userId: 'u' }),
  'a partner key creates a session': () =>
    asPartner('/partner/v1/sessions', { userId: 'u', scopes: ['users.read'], ttlSeconds: 60 }),
}

for (const [what, use] of Object.entries(USES))
  t.test(`denies a held key: ${what}`, async t => {
    t.equal((await use()).status, 200, 'not held yet')
    await rows(db, HOLD_ALL)
    // Whether any key is held is read once a second.
    clock.advance(1000)
    t.match(await use(), { status: 403, body: { error: 'key_held' } })
    await rows(db, 'delete from gw_held_keys')
    clock.advance(1000)
    t.equal((await use()).status, 200, 'released')
  })

t.test('the owner signs in with the wallet while keys are held', async t => {
  await rows(db, HOLD_ALL)
  clock.advance(1000)
  const opened = await send('/auth/console', { method: 'POST', headers: bearer(await webToken(send)) })
  t.equal(opened.status, 200)
  const again = await bootstrapUser(send, {}, clock.now())
  t.equal((await exchange(again.key)).status, 200)
  await rows(db, 'delete from gw_held_keys')
})

t.test('the successor of a held key works for its wallet, and the held key does not come back', async t => {
  const wallet = newWallet()
  const made = await send('/identity/user-api-keys', {
    body: {},
    headers: bearer(await webToken(send, wallet)),
  })
  await rows(db, HOLD_ALL)
  clock.advance(1000)
  t.match(await exchange(keyOf(made)), { status: 403, body: { error: 'key_held' } })
  const path = `/user/v1/keys/${String(made.body['userKeyId'])}/rotate`
  const asItself = await send(path, { body: {}, headers: { 'x-user-key': keyOf(made) } })
  t.match(asItself, { status: 403, body: { error: 'key_held' } }, 'not by whoever has its text')
  const rotation = await send(path, {
    body: { overlapSeconds: 3600 },
    headers: bearer(await webToken(send, wallet)),
  })
  t.equal(rotation.status, 200)
  t.equal((await exchange(keyOf(rotation))).status, 200)
  t.match(await exchange(keyOf(made)), { status: 403, body: { error: 'key_held' } }, 'also in the overlap')
})
