import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  bearer,
  newWallet,
  request,
  signedBootstrap,
  spawnHost,
  type HttpResponse,
  type HostProcess,
} from '../harness/host.ts'
import { temporaryFolder } from '../harness/files.ts'

const PAYIN = '/user/v1/subscriptions/payin'

t.test('keeps what it responded when it is killed right after a 200', async t => {
  const dataDir = temporaryFolder(t)
  let host: HostProcess = await spawnHost(dataDir)
  const send = (path: string, options: Parameters<typeof request>[2]): Promise<HttpResponse> =>
    request(host.url, path, options)
  const killed = async (): Promise<void> => {
    await host.stop('SIGKILL')
    host = await spawnHost(dataDir)
  }

  for (let round = 0; round < 3; round++) {
    const proof = await signedBootstrap(newWallet())
    const first = await send('/user/v1/bootstrap', { body: proof })
    t.equal(first.status, 200)
    await killed()
    const again = await send('/user/v1/bootstrap', { body: proof })
    t.match(again, { status: 401, body: { error: 'invalid_signature' } }, 'the nonce is still used')

    const headers = { ...bearer(first.body['sessionToken'] as string), 'idempotency-key': randomUUID() }
    const paid = await send(PAYIN, { body: { amountCents: 100 + round }, headers })
    t.equal(paid.status, 200, 'the session from before the kill still verifies')
    await killed()
    const replayed = await send(PAYIN, { body: { amountCents: 100 + round }, headers })
    t.same(replayed.body, paid.body, 'the stored response survived')
    t.equal(replayed.headers.get('idempotency-replayed'), 'true')

    const minted = await send('/user/v1/sessions', {
      body: {},
      headers: { 'x-user-key': first.body['userApiKey'] as string },
    })
    t.equal(minted.status, 200, 'the key survived')
  }
  await host.stop('SIGTERM')
})

t.test('creates one pay-in, at whatever point of the request it is killed', async t => {
  const dataDir = temporaryFolder(t)
  let host: HostProcess = await spawnHost(dataDir)
  const first = await request(host.url, '/user/v1/bootstrap', { body: await signedBootstrap(newWallet()) })
  const token = first.body['sessionToken'] as string
  let respondedBeforeKill = 0
  for (let round = 0; round < 12; round++) {
    const headers = { ...bearer(token), 'idempotency-key': randomUUID() }
    const options = { body: { amountCents: 1 + round }, headers }
    const attempt = request(host.url, PAYIN, options).catch(() => undefined)
    await new Promise(resolve => setTimeout(resolve, round))
    await host.stop('SIGKILL')
    const before = await attempt
    host = await spawnHost(dataDir)
    const after = await request(host.url, PAYIN, options)
    t.equal(after.status, 200)
    if (before) {
      respondedBeforeKill++
      t.same(after.body, before.body, 'a response that was given stays the response')
    }
  }
  t.comment(`measured: ${respondedBeforeKill} of 12 requests got a response before the kill`)
  await host.stop('SIGTERM')
})
