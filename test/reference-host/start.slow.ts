// What starts more hosts than one, after `start.test.ts`.
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  bearer,
  bootstrapUser,
  newWallet,
  request,
  signedBootstrap,
  spawnHost,
  type HttpResponse,
  type RequestOptions,
} from '../harness/host.ts'
import { runNode } from '../harness/node.ts'
import { temporaryFolder } from '../harness/files.ts'
import { partnerKeyIn, paste } from './harness/printed-start.ts'

const top = temporaryFolder(t)

// The folder as a person has it: `.data`.
const folder = join(top, '.data')
let host = await spawnHost(folder, { OPERATOR_PAGE: 'on', OPERATOR_PORT: '0' })
const key = partnerKeyIn(folder)

t.test('runs the demo against a running host, whose limit refuses its second payment', async t => {
  const { hostname, port } = new URL(host.url)
  const { output } = await runNode(['build/examples/wallet-client/client.js'], {
    ...process.env,
    HOST: hostname,
    PORT: port,
  })
  t.match(output, /Idempotency-Replayed: true[^]*dailySpendCapCents[^]*insufficient_scope[^]*\/helper/)
  t.same(
    output.split('\n').filter(line => line.length > 80 && !line.includes('wants you')),
    [],
  )
  t.notMatch(output, /gw_sandbox_user_\w{16}_\w{36}/)
})

/** Stops the host in the middle of a request. */
async function stopDuringRequest(t: Test, signal: 'SIGTERM' | 'SIGHUP'): Promise<void> {
  const user = await bootstrapUser((path, options) => request(host.url, path, options))
  const { hostname, port } = new URL(host.url)
  const body = JSON.stringify({ amountCents: 1 })
  const sent = httpRequest({
    hostname,
    port,
    path: '/user/v1/subscriptions/payin',
    method: 'POST',
    headers: {
      ...bearer(user.token),
      'idempotency-key': `while-stopping-${signal}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  })
  const responded = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.write(body.slice(0, 5))
  const ended = host.stop(signal)
  const isListening = () =>
    fetch(`${host.url}/healthz`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    )
  while (await isListening());
  sent.end(body.slice(5))
  const [response] = await responded
  t.equal(response.statusCode, 200)
  response.resume()
  t.equal(await ended, 0)
}

t.test('finishes a running request on SIGTERM and then exits', t => stopDuringRequest(t, 'SIGTERM'))

t.test('a later start keeps the partner key, and says that the operator page is off', async t => {
  host = await spawnHost(folder)
  t.notMatch(host.output(), /Operator +http/)
  t.match(host.output(), /Operator +off/)
  t.match(await paste(host.output()), /"userId":"user-1"/)
  t.equal(partnerKeyIn(folder), key)
})

t.test('finishes a running request on SIGHUP and then exits', t => stopDuringRequest(t, 'SIGHUP'))

t.test('says that the partner key in its file does not work, or is gone', async t => {
  writeFileSync(join(folder, 'partner-key'), `${key.slice(0, -1)}\n`)
  const stale = await spawnHost(folder)
  t.match(stale.output(), /partner-key does not work here\. [^]*partner-keys create NAME/)
  await stale.stop('SIGTERM')
  rmSync(join(folder, 'partner-key'))
  const gone = await spawnHost(folder)
  t.match(gone.output(), /partner-key is gone\. [^]*partner-keys create NAME/)
  await gone.stop('SIGTERM')
})

t.test('shows no secret in logs, errors or metrics, whatever clients send', async t => {
  const own = temporaryFolder(t)
  const host = await spawnHost(own, { LOG_LEVEL: 'debug' })
  const partnerKey = partnerKeyIn(own)
  const errors: string[] = []
  const send = async (path: string, options?: RequestOptions): Promise<HttpResponse> => {
    const response = await request(host.url, path, options)
    if (response.status >= 400) errors.push(JSON.stringify(response.body))
    return response
  }
  const proof = await signedBootstrap(newWallet())
  const { body } = await send('/user/v1/bootstrap', { body: proof })
  const [key, token] = [body['userApiKey'] as string, body['sessionToken'] as string]
  await send('/user/v1/bootstrap', { body: proof })
  await send('/user/v1/bootstrap', { body: { ...proof, signature: `${String(proof['signature'])}00` } })
  const made = await send('/user/v1/keys', { body: {}, headers: bearer(token) })
  const child = made.body['userApiKey'] as string
  const rotated = await send(`/user/v1/keys/${String(made.body['userKeyId'])}/rotate`, {
    body: {},
    headers: { 'x-user-key': child },
  })
  const partner = { 'x-partner-key': partnerKey }
  await send('/partner/v1/users/resolve', { body: { userId: 'ann' }, headers: partner })
  const opened = await send('/partner/v1/sessions', {
    body: { userId: 'ann', scopes: ['cards.read'] },
    headers: partner,
  })
  const partnerToken = opened.body.data['sessionToken'] as string
  const cards = await send('/partner/v1/cards?cursor=x', { headers: bearer(partnerToken) })
  t.equal(cards.status, 400)
  await send('/partner/v1/sessions', { body: {}, headers: { 'x-partner-key': `${partnerKey}x` } })
  await send('/user/v1/subscriptions/payin', { body: '{"amountCents":', headers: bearer(token) })
  await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': `${key}x` } })
  await send(`/user/v1/keys/${token}`, { method: 'DELETE', headers: bearer(token) })
  await send(`/user/v1/keys?token=${token}`, { headers: bearer(`${token}x`) })
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  await host.stop('SIGTERM')

  t.ok(errors.length >= 5)
  t.match(host.output(), /"operation":"auth.bootstrap"/, 'the log is there')
  const secrets = [
    partnerKey,
    partnerToken,
    key,
    child,
    rotated.body['userApiKey'] as string,
    token,
    String(proof['signature']),
  ]
  const parts = [...secrets.map(secret => secret.slice(-36, -6)), token.split('.')[2] as string]
  for (const [place, text] of Object.entries({ log: host.output(), errors: errors.join(), metrics })) {
    for (const secret of [...secrets, ...parts]) t.notOk(text.includes(secret), place)
    t.notMatch(text, /gw_sandbox_(?:user|partner)_\w{16}_/, place)
  }
})
