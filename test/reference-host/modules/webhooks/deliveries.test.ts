import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { hostileBehaviours, hostileServer } from '../../harness/hostile-servers.ts'
import { onBothDatabases } from '../../../harness/databases/host-tables.ts'
import * as internals from '../../../harness/internals.ts'
import { prepareWebhooks, startReceiver, webhookParts, type Receiver } from '../../harness/webhooks.ts'

const { endpoints, MAX_ENDPOINTS, MAX_FAILING_MS, retries, standardWebhooks } = internals
const HOUR_MS = 3_600_000

interface Setup {
  readonly t: Test
  readonly db: SqlClient
  readonly dbs: readonly SqlClient[]
  readonly clock: ManualClock
  readonly parts: ReturnType<typeof webhookParts>
  newReceiver(): Promise<Receiver>
}

interface Case {
  readonly title: string
  readonly run: (setup: Setup) => Promise<void>
}

const cases: Case[] = []
/** A test that runs on both databases. */
const delivers = (title: string, run: Case['run']): unknown => cases.push({ title, run })

const TABLES = ['gw_webhook_endpoints', 'gw_webhook_retries', 'gw_published_events', 'gw_events']
/** Opens each database once, and runs all tests on it, one after another. */
function runCases(): void {
  onBothDatabases('sends events', async (t, { dbs }) => {
    const [db] = dbs
    await prepareWebhooks(db)
    for (const { title, run } of cases)
      await t.test(title, async t => {
        for (const table of TABLES) await rows(db, `delete from ${table} where true returning 1`)
        const clock = manualClock(Date.now())
        const parts = webhookParts(db, clock)
        const newReceiver = async (): Promise<Receiver> => {
          const receiver = await startReceiver()
          t.teardown(() => receiver.close())
          return receiver
        }
        await run({ t, db, dbs, clock, parts, newReceiver })
      })
  })
}

const idsOf = ({ received }: Receiver): string[] => received.map(({ id }) => id)
const objectsOf = ({ received }: Receiver): string[] =>
  received.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id)
const answers =
  (status: number, headers: Record<string, string> = {}): Receiver['answer'] =>
  (_, res) =>
    void res.writeHead(status, headers).end()

delivers(
  'sends each event once, signed so that two implementations of the standard verify it',
  async setup => {
    const { t, parts, newReceiver, clock, db } = setup
    const receiver = await newReceiver()
    await parts.record('before')
    await parts.publish()
    const { id, secret } = await parts.addEndpoint(receiver.url)
    for (const object of ['a', 'b', 'c']) await parts.record(object)
    await parts.publish()
    await parts.deliver()
    await parts.deliver()
    t.same(objectsOf(receiver), ['a', 'b', 'c'], 'not those from before the endpoint')
    t.equal(new Set(idsOf(receiver)).size, 3)
    const verify = standardWebhooks([Buffer.from(secret.replace('whsec_', ''), 'base64')], clock)
    for (const { id: eventId, headers, body } of receiver.received) {
      t.match(new Webhook(secret).verify(body, headers), {
        type: 'deposit.completed',
        data: { userId: 'user-1' },
      })
      t.equal(await verify({ header: name => headers[name], body: Buffer.from(body) }), eventId)
    }
    t.match(await endpoints.find(db, id), { lastResult: '204', failingSince: null })

    const rotated = await endpoints.rotate(db, parts.sealer, id, clock.now())
    await parts.record('d')
    await parts.publish()
    await parts.deliver()
    const both = receiver.received.at(-1)
    for (const each of [secret, rotated])
      t.ok(new Webhook(each).verify(both?.body ?? '', both?.headers ?? {}))
    clock.advance(24 * HOUR_MS)
    await parts.record('e')
    await parts.publish()
    await parts.deliver()
    t.equal(
      receiver.received.at(-1)?.headers['webhook-signature']?.split(' ').length,
      1,
      'for 24 hours both sign',
    )
    t.same(parts.reports, [])
  },
)

delivers(
  'repeats what a receiver did not accept, with the same id and body, at growing intervals',
  async setup => {
    const { t, parts, newReceiver, clock, db } = setup
    const receiver = await newReceiver()
    const { id } = await parts.addEndpoint(receiver.url)
    receiver.answer = answers(500)
    await parts.record('a')
    await parts.publish()
    await parts.deliver()
    t.match(await retries.list(db, 10), [{ attempts: 1, dueAt: clock.now() + 5000, lastResult: '500' }])
    t.match(await endpoints.find(db, id), { lastResult: '500', failingSince: clock.now(), disabledFor: null })
    clock.advance(4999)
    await parts.deliver()
    t.equal(receiver.received.length, 1)
    clock.advance(1)
    await parts.deliver()
    t.match(await retries.list(db, 10), [{ attempts: 2, dueAt: clock.now() + 300_000 }])
    receiver.answer = answers(204)
    clock.advance(300_000)
    await parts.deliver()
    t.equal(receiver.received.length, 3)
    t.equal(new Set(idsOf(receiver)).size, 1)
    t.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
    t.same(await retries.list(db, 10), [])
    t.same(parts.outcomes, ['failed', 'failed', 'delivered'])
  },
)

delivers('an endpoint that does not respond delays no other, and gets 4 events at a time', async setup => {
  const { t, parts, newReceiver } = setup
  const [slow, quick] = [await newReceiver(), await newReceiver()]
  const hanging: (() => void)[] = []
  slow.answer = (_, res) => void hanging.push(() => res.writeHead(204).end())
  await parts.addEndpoint(slow.url)
  for (let n = 0; n < 12; n += 1) await parts.record(`o${n}`)
  await parts.publish()
  const first = parts.deliver()
  await parts.addEndpoint(quick.url)
  const asked = new Promise<void>(resolve => {
    quick.answer = (_, res) => {
      res.writeHead(204).end()
      resolve()
    }
  })
  await parts.record('late')
  await parts.publish()
  const second = parts.deliver()
  await asked
  t.same(objectsOf(quick), ['late'])
  t.equal(slow.received.length, 4)
  slow.answer = answers(204)
  for (const end of hanging) end()
  await Promise.all([first, second])
  t.equal(new Set(idsOf(slow)).size, 13)
  t.equal(slow.received.length, 13)
})

delivers('an endpoint that switches protocols counts as failing, and its attempts end', async setup => {
  const { t, db, parts, clock } = setup
  const server = await hostileServer(hostileBehaviours['switches protocols']!)
  t.teardown(() => server.close())
  const { id } = await parts.addEndpoint(server.url)
  for (const object of ['a', 'b', 'c', 'd', 'e']) await parts.record(object)
  await parts.publish()
  await parts.deliver()
  t.match(await endpoints.find(db, id), { lastResult: '101', failingSince: clock.now() })
  t.same([...new Set(parts.outcomes)], ['failed'])
  await server.closedAll()
})

/** A user of another partner. */
const OTHER_PARTNER = `insert into gw_users (id, account_id, partner_id, external_id, kyc_status, created_at)
  values ('usr_other', 'acc_other', 'ptn_other', 'other', 'not_submitted', 0)`

delivers(
  'gives a partner no further places while its endpoints hang, and stops without them',
  async setup => {
    const { t, db, parts, clock, newReceiver } = setup
    const [hanging, quick] = [await newReceiver(), await newReceiver()]
    hanging.answer = () => {}
    const added = await Promise.all(
      Array.from({ length: MAX_ENDPOINTS }, () => parts.addEndpoint(hanging.url)),
    )
    await parts.record('a')
    await parts.publish()
    const stop = new AbortController()
    const ended = parts.deliverUntil(stop.signal)
    while (hanging.received.length < MAX_ENDPOINTS) await turn()
    for (const { id } of added) await db.transaction(tx => endpoints.enable(tx, id, clock.now()))
    const asked = new Promise<void>(resolve => {
      quick.answer = (_, res) => {
        res.writeHead(204).end()
        resolve()
      }
    })
    await rows(db, OTHER_PARTNER, [])
    await parts.addEndpoint(quick.url, 'ptn_other')
    await parts.record('b', 'acc_other')
    await parts.publish()
    await asked
    t.equal(hanging.received.length, MAX_ENDPOINTS)
    const stoppedAt = performance.now()
    stop.abort()
    await ended
    // An attempt lasts up to 15 seconds.
    t.ok(performance.now() - stoppedAt < 10_000, 'a stop does not wait for the attempts')
  },
)

delivers('follows no redirect', async ({ t, parts, newReceiver, db }) => {
  const [receiver, other] = [await newReceiver(), await newReceiver()]
  receiver.answer = answers(302, { location: other.url })
  await parts.addEndpoint(receiver.url)
  await parts.record('a')
  await parts.publish()
  await parts.deliver()
  t.equal(other.received.length, 0)
  t.match(await retries.list(db, 10), [{ lastResult: '302' }])
})

delivers('410 disables an endpoint, and an operator lets it continue where it was', async setup => {
  const { t, parts, newReceiver, clock, db } = setup
  const receiver = await newReceiver()
  const { id } = await parts.addEndpoint(receiver.url)
  receiver.answer = answers(410)
  await parts.record('a')
  await parts.publish()
  await parts.deliver()
  t.match(await endpoints.find(db, id), { disabledFor: 'gone' })
  t.match(String(parts.reports[0]), new RegExp(`${id} of ptn_tested is disabled: it responded with 410`))
  receiver.answer = answers(204)
  await parts.record('b')
  await parts.publish()
  clock.advance(4 * 24 * HOUR_MS)
  await parts.deliver()
  t.equal(receiver.received.length, 1)
  await db.transaction(tx => endpoints.enable(tx, id, clock.now()))
  await parts.deliver()
  t.same(objectsOf(receiver), ['a', 'a', 'b'])
})

delivers('an operator stops and continues an endpoint', async ({ t, parts, newReceiver, clock, db }) => {
  const receiver = await newReceiver()
  const { id } = await parts.addEndpoint(receiver.url)
  await endpoints.disable(db, id)
  await parts.record('a')
  await parts.publish()
  await parts.deliver()
  t.equal(receiver.received.length, 0)
  await db.transaction(tx => endpoints.enable(tx, id, clock.now()))
  await parts.deliver()
  t.same(objectsOf(receiver), ['a'])
})

delivers('sends nothing before the time that Retry-After asks for', async setup => {
  const { t, parts, newReceiver, clock } = setup
  const receiver = await newReceiver()
  await parts.addEndpoint(receiver.url)
  receiver.answer = answers(503, { 'retry-after': '3600' })
  await parts.record('a')
  await parts.publish()
  await parts.deliver()
  await parts.record('b')
  await parts.publish()
  clock.advance(HOUR_MS - 1)
  await parts.deliver()
  t.same(objectsOf(receiver), ['a'])
  receiver.answer = answers(204)
  clock.advance(1)
  await parts.deliver()
  t.same(objectsOf(receiver), ['a', 'a', 'b'])
})

delivers('an endpoint that has failed for 3 days is disabled, and loses no event', async setup => {
  const { t, parts, newReceiver, clock, db } = setup
  const receiver = await newReceiver()
  const { id } = await parts.addEndpoint(receiver.url)
  receiver.answer = answers(500)
  await parts.record('a')
  await parts.publish()
  const start = clock.now()
  while ((await endpoints.find(db, id))?.disabledFor === null && receiver.received.length < 20) {
    const [next] = await retries.list(db, 1)
    clock.advance(Math.max(next?.dueAt ?? 0, clock.now()) - clock.now())
    await parts.deliver()
  }
  t.ok(clock.now() - start >= MAX_FAILING_MS)
  t.match(await endpoints.find(db, id), { disabledFor: 'failing' })
  t.equal(receiver.received.length, 10)
  t.match(await retries.list(db, 2), [{ attempts: 10 }])
  receiver.answer = answers(204)
  await db.transaction(tx => endpoints.enable(tx, id, clock.now()))
  await parts.deliver()
  t.same(await retries.list(db, 2), [])
})

delivers(
  'an event that is never accepted ends after its last attempt, and the others arrive',
  async setup => {
    const { t, parts, newReceiver, clock, db } = setup
    const receiver = await newReceiver()
    const { id } = await parts.addEndpoint(receiver.url)
    receiver.answer = ({ body }, res) => void res.writeHead(body.includes('poison') ? 500 : 204).end()
    await parts.record('poison')
    for (let n = 0; n < 12; n += 1) {
      await parts.record(`good ${n}`)
      await parts.publish()
      await parts.deliver()
      clock.advance(21 * HOUR_MS)
    }
    await parts.deliver()
    t.same(await retries.list(db, 1), [])
    t.match(await endpoints.find(db, id), { disabledFor: null, failingSince: null })
    t.equal(objectsOf(receiver).filter(each => each === 'poison').length, 10)
    t.equal(new Set(objectsOf(receiver)).size, 13)
    t.equal(parts.outcomes.filter(each => each === 'given_up').length, 1)
  },
)

delivers('several hosts send each event once', async ({ t, parts, newReceiver, clock, dbs }) => {
  const receiver = await newReceiver()
  const { id } = await parts.addEndpoint(receiver.url)
  for (let n = 0; n < 120; n += 1) await parts.record(`o${n % 7}`)
  const hosts = dbs.map(each => webhookParts(each, clock))
  await Promise.all(hosts.map(each => each.publish()))
  await Promise.all(hosts.map(each => each.publish()))
  await Promise.all(hosts.map(each => each.deliver()))
  t.equal(receiver.received.length, 120)
  t.equal(new Set(idsOf(receiver)).size, 120)
  t.match(await endpoints.find(dbs[0] as SqlClient, id), { lastResult: '204' })
})

delivers(
  'an event that was sent and not noted is sent again, with its id',
  async ({ t, parts, newReceiver, clock, db }) => {
    const receiver = await newReceiver()
    await parts.addEndpoint(receiver.url)
    await parts.record('a')
    await parts.publish()
    const cut: SqlClient = { ...db, transaction: () => Promise.reject(new Error('cut')) }
    const killed = webhookParts(cut, clock)
    await killed.deliver()
    t.match(killed.reports, [{ message: 'cut' }])
    await parts.deliver()
    t.equal(receiver.received.length, 1, 'the lease of the other host still counts')
    clock.advance(60_000)
    await parts.deliver()
    t.equal(receiver.received.length, 2)
    t.equal(new Set(idsOf(receiver)).size, 1)
  },
)

delivers(
  `a partner has at most ${MAX_ENDPOINTS} endpoints, also by simultaneous commands`,
  async ({ t, parts, dbs, clock }) => {
    const all = dbs.map(each => webhookParts(each, clock))
    const added = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        (all[n % all.length] ?? parts).addEndpoint('https://shop.example'),
      ),
    )
    t.equal(added.filter(({ status }) => status === 'fulfilled').length, MAX_ENDPOINTS)
  },
)

runCases()
