import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import type { AddressInfo, Server } from 'node:net'
import t, { type Test } from 'tap'
import { createApp, payIn, setUp, type PayIn } from '../../examples/idempotent-hono/app.ts'
import { plainNode } from '../harness/node.ts'
import { openSqlite } from '../harness/stores.ts'

const SERVER = fileURLToPath(new URL('../../examples/idempotent-hono/server.js', import.meta.url))
const BODY = '{"amountCents":1250}'

function post(url: string, key: string | undefined, body = BODY, signal?: AbortSignal): Promise<Response> {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return fetch(`${url}/payins`, { method: 'POST', headers, body, ...(signal ? { signal } : {}) })
}

/** The app on a real socket, over a fresh database. */
async function start(t: Test, pay?: PayIn) {
  const { connections, close } = await openSqlite(1, setUp)
  const db = connections[0] as SqlClient
  const { app, drained } = createApp(db, pay)
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await close()
  })
  const payIns = async (): Promise<number> =>
    toInteger((await rows(db, 'select count(*) as n from payins'))[0]?.['n'])
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, drained, payIns }
}

t.test('responds to 20 simultaneous requests with one pay-in and 19 replays of its response', async t => {
  const { url, payIns } = await start(t)
  const responses = await Promise.all(Array.from({ length: 20 }, () => post(url, 'key-00000001')))
  t.equal(responses.filter(response => response.headers.get('idempotency-replayed') === 'true').length, 19)
  for (const response of responses) {
    t.equal(response.status, 201)
    t.match(response.headers.get('idempotency-expires'), / GMT$/)
    t.match(response.headers.get('access-control-expose-headers'), /Idempotency-Replayed/)
  }
  t.equal(new Set(await Promise.all(responses.map(response => response.text()))).size, 1)
  t.equal(await payIns(), 1)
})

t.test('denies a missing key, a reused key, and frees the key of an invalid body', async t => {
  const { url, payIns } = await start(t)
  const none = await post(url, undefined)
  t.equal(none.status, 400)
  t.match(await none.json(), { error: 'idempotency_key_required' })
  t.equal((await post(url, 'key-00000001', '{"amountCents":-1}')).status, 400)
  t.equal((await post(url, 'key-00000001')).status, 201)
  const reused = await post(url, 'key-00000001', '{"amountCents":9999}')
  t.equal(reused.status, 400)
  t.match(await reused.json(), { error: 'idempotency_key_reused' })
  t.equal(await payIns(), 1)
})

t.test('finishes and records a pay-in whose client hung up, also while it drains', async t => {
  let entered: () => void = () => {}
  const inside = new Promise<void>(resolve => {
    entered = resolve
  })
  let finish: () => void = () => {}
  const gate = new Promise<void>(resolve => {
    finish = resolve
  })
  const { url, drained, payIns } = await start(t, async (...args) => {
    entered()
    await gate
    return payIn(...args)
  })
  const hangUp = new AbortController()
  const request = post(url, 'key-00000001', BODY, hangUp.signal)
  await inside
  hangUp.abort()
  await t.rejects(request, { name: 'AbortError' })
  const draining = drained()
  finish()
  await draining
  t.equal(await payIns(), 1)
  const retry = await post(url, 'key-00000001')
  t.equal(retry.status, 201)
  t.equal(retry.headers.get('idempotency-replayed'), 'true')
  t.equal(await payIns(), 1)
})

/** The example as it is started by hand. */
async function run(t: Test, file: string): Promise<{ url: string; child: ChildProcess }> {
  const env = { ...process.env, PORT: '0' }
  const child = plainNode([SERVER, file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    return { url: line.replace('listening on ', ''), child }
  }
  throw new Error('the example did not start')
}

t.test('stops at SIGTERM, and replays after a restart, also after a kill', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-hono-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'example.sqlite')
  const first = await run(t, file)
  const created = await post(first.url, 'key-00000001')
  t.equal(created.status, 201)
  const body = await created.text()
  first.child.kill('SIGTERM')
  t.equal((await once(first.child, 'exit'))[0], 0)

  const second = await run(t, file)
  t.equal(await (await post(second.url, 'key-00000001')).text(), body)
  second.child.kill('SIGKILL')
  await once(second.child, 'exit')

  const third = await run(t, file)
  const replayed = await post(third.url, 'key-00000001')
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  t.equal(await replayed.text(), body)
})
