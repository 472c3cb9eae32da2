// The events of a partner as a developer gets them beside a server under development.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import { events } from '@gatewright/host'
import { rows } from '@gatewright/kernel/sql'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { cuttingProxy } from './cutting-proxy.ts'
import { gatewright } from '../../harness/gatewright.ts'
import { startOpenHost } from '../harness/open-host.ts'
import { partnerUser } from '../harness/partner.ts'
import { startReceiver } from '../harness/webhooks.ts'
import { PROGRAMS } from '../../harness/programs.ts'

const clock = { now: () => Date.now() }
const { host, db, close } = await startOpenHost(clock)
const proxy = await cuttingProxy(host.url)
const receiver = await startReceiver()
const running: ChildProcessByStdio<null, Readable, Readable>[] = []
t.teardown(async () => {
  for (const each of running) {
    each.kill()
    if (each.exitCode === null && each.signalCode === null) await once(each, 'exit')
  }
  await proxy.close()
  await receiver.close()
  await close()
})

await partnerUser(host, 'ann', [])
const [user] = await rows(db, 'select account_id from gw_partner_users where external_id = $1', ['ann'])
const accountId = String(user?.['account_id'])

/** Publishes an event of an object. */
async function publish(id: string): Promise<void> {
  const event = { accountId, subject: { kind: 'deposit', id }, to: 'completed', cause: 'tested' }
  await db.transaction(tx => events.record(tx, event, clock.now()))
  await host.chore('publish events')
}

function listen(...more: string[]) {
  const args = [PROGRAMS.command, 'listen', proxy.url, ...more]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PARTNER_KEY: host.partnerKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  const linesOf = (stream: Readable) => {
    const lines = createInterface({ input: stream })[Symbol.asyncIterator]()
    return async (): Promise<string> => String((await lines.next()).value)
  }
  return { line: linesOf(child.stdout), note: linesOf(child.stderr) }
}

await publish('dep_before')

await t.test('posts each new event, signed, and goes on after errors of both servers', async t => {
  const { line, note } = listen('--forward', receiver.url)
  const [, secret = ''] = /^WEBHOOK_SECRET=(whsec_\S+) verifies/.exec(await note()) ?? []
  t.match(await note(), /^Waiting for events of http/)
  await publish('dep_1')
  t.match(await line(), /^\d\d:\d\d:\d\d {2}204 +deposit\.completed +evt_[0-9a-f]{32} {2}dep_1 {2}ann$/)
  const [got] = receiver.received
  t.match(new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {}), {
    type: 'deposit.completed',
    data: { id: 'dep_1', userId: 'ann', eventId: got?.id },
  })
  t.equal(receiver.received.length, 1, 'without the events from before')

  receiver.answer = (_, res) => void res.writeHead(500).end()
  await publish('dep_2')
  t.match(await line(), / 500 .* dep_2 /)
  receiver.answer = (_, res) => void res.writeHead(204).end()
  proxy.isDown = true
  t.match(await note(), /does not answer: .*\. Trying again until it works\.$/)
  await publish('dep_3')
  proxy.isDown = false
  t.match(await note(), / answers again\.$/)
  t.match(await line(), / 204 .* dep_3 /, 'goes on where it was')
})

await t.test('prints the events that are kept, as JSON', async t => {
  const { line } = listen('--all', '--json')
  for (const id of ['dep_before', 'dep_1'])
    t.match(JSON.parse(await line()), { type: 'deposit.completed', data: { id } })
})

await t.test('ends when the host denies the key, and explains wrong arguments', async t => {
  const run = (env: Record<string, string>, ...args: string[]) => gatewright(['listen', ...args], env)
  const key = { PARTNER_KEY: 'gw_wrong' }
  t.match(await run(key, host.url), { code: 1, output: /key/ })
  t.match(await run({}, host.url), { code: 1, output: /PARTNER_KEY must hold the key of a partner/ })
  t.match(await run(key, 'http://shop.example'), { code: 2, output: /HOST must be an address/ })
  t.match(await run(key, host.url, '--forward', 'shop'), { code: 2, output: /--forward: URL must be a URL/ })
  t.match(await run({ ...key, WEBHOOK_SECRET: 'x' }, host.url, '--forward', receiver.url), {
    code: 1,
    output: /WEBHOOK_SECRET must be whsec_/,
  })
})
