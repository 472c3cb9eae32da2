// Hosts on one database are killed at random while clients move money in every way there is, and are compared with a model of what
// the clients did and received. `MONEY_MODEL_SEED` runs another seed, or one again that has failed.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { bundled } from '../harness/bundle.ts'
import { openDatabaseOf } from '../harness/database-rows.ts'
import { startFleet } from './harness/fleet.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { WEBHOOK_SECRET } from './harness/kyc.ts'
import { randomOf, type Random } from './harness/random.ts'
import { actOnce, lookAt } from './money-model/acts.ts'
import { takeBack } from './money-model/card-acts.ts'
import { newClient, sentIds, type Client } from './money-model/client.ts'
import { differences, wrongInDatabase } from './money-model/differences.ts'
import { temporaryFolder } from '../harness/files.ts'

const SEED = Number(process.env['MONEY_MODEL_SEED'] ?? 20_261_122)
const OPERATIONS = Number(process.env['MONEY_MODEL_OPERATIONS'] ?? 1000)
const CLIENTS = 12
/** The last clients send three requests at a time, so that the model does not know what is decided. */
const ALONE = 9
const LANES = 3
const DAY_MS = 86_400_000
const SETTLED_WITHIN_MS = 60_000
const CAPS = [
  [20_000, 10_000],
  [3_000_000, 1_500_000],
  [90_000_000, 90_000_000],
] as const
const LEAST_KILLS = 3
const HOST = await bundled(['build/test/reference-host/money-model/host.child.js'])

t.setTimeout(1_800_000)

/** A daily cap must not reset during the test. */
async function farFromMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < 300_000) await delay(left + 1000)
}

for (const store of ['postgres', 'sqlite'] as const) {
  t.test(`money is where the clients have put it, whichever hosts die, on ${store}`, async t => {
    await farFromMidnight()
    t.comment(`measured ${store} with seed ${SEED}`)
    const folder = temporaryFolder(t)
    const stores = await hostStoresEnv(store === 'postgres' ? 'postgres' : 'embedded')
    const journal = join(folder, 'journal')
    writeFileSync(journal, '')
    const place = { ...stores.env, DATA_DIR: folder }
    const size = store === 'postgres' ? 4 : 1
    const secrets = `journal=${WEBHOOK_SECRET},sandbox=${WEBHOOK_SECRET}`
    const env = { ...place, PROVIDER_WEBHOOK_SECRETS: secrets, JOURNAL: journal, RATE_LIMITS: 'off' }
    const quick = { LOG_LEVEL: 'error' }
    const fleet = await startFleet(size, { ...env, ...quick }, randomOf(SEED), HOST)
    const { db, close } = openDatabaseOf(place)
    t.teardown(async () => {
      await fleet.stop()
      await close()
      await stores.drop()
    })
    const clients: Client[] = []
    for (let at = 0; at < CLIENTS; at += 1) {
      const about = { name: `client ${at}`, send: fleet.send, others: clients, journal }
      clients.push(await newClient({ ...about, alone: at < ALONE }, CAPS[at % 3] as (typeof CAPS)[0]))
    }

    const started = performance.now()
    const stopKilling = fleet.killing(randomOf(SEED + 1), size === 1 ? 3000 : 1500)
    const outages = new AbortController()
    const outage = provideBadly(`${journal}.down`, randomOf(SEED + 2), outages.signal)
    // Before the folder of its file goes, also when the test has failed.
    t.teardown(async () => {
      outages.abort()
      await outage
    })
    const done: Record<string, number> = {}
    let begun = 0
    const lane = async (client: Client, random: Random): Promise<void> => {
      // On a fast machine the operations could end before enough hosts were killed.
      while (begun < OPERATIONS || fleet.counts.kills < LEAST_KILLS) {
        begun += 1
        const act = await actOnce(client, random)
        done[act] = (done[act] ?? 0) + 1
      }
    }
    const lanes = clients.flatMap((client, at) =>
      Array.from({ length: at < ALONE ? 1 : LANES }, () => client),
    )
    await Promise.all(lanes.map((client, at) => lane(client, randomOf(SEED + 10 + at))))
    const seconds = (performance.now() - started) / 1000
    await stopKilling()
    outages.abort()
    const outageCount = await outage

    for (const client of clients) await takeBack(client, randomOf(SEED))
    await settle(db, clients)
    const random = randomOf(SEED + 3)
    t.same((await Promise.all(clients.map(client => differences(client, random)))).flat(), [])
    t.same(await wrongInDatabase(db, store, clients), [])
    const sent = sentIds(journal)
    t.same(
      sent.filter((id, at) => sent.indexOf(id) !== at),
      [],
      'no id took effect twice',
    )
    const withdrawals = clients.flatMap(({ model }) => model.withdrawals)
    const mustBeSent = withdrawals.filter(({ rejected }) => !rejected).map(({ id }) => id)
    t.same(sent.toSorted(), mustBeSent.toSorted(), 'each withdrawal was sent, and nothing else')
    const output = await fleet.stop()
    // A host can die before it has decided a payment: its reversal then waits for a request that never comes.
    const unexpected = output
      .split('\n')
      .filter(
        line => line.startsWith('unexpected failure') && !/authorization\.reversed .* it was kept/.test(line),
      )
    t.same(unexpected, [], 'the hosts met nothing but outages')

    const { kills, lost, unavailable, inProgress } = fleet.counts
    t.ok(
      kills >= LEAST_KILLS && lost > 0 && sent.length > 20 && outageCount > 0,
      'hosts and providers were gone',
    )
    const magic = withdrawals.filter(({ amountCents }) => amountCents > 1_000_000).length
    const late = clients.reduce((total, client) => total + client.late.length, 0)
    t.comment(`measured ${store}: ${begun} operations in ${seconds.toFixed(1)} s: ${JSON.stringify(done)}`)
    t.comment(
      `measured ${store}: ${withdrawals.length} withdrawals, ${magic} of a magic amount; ${outageCount} outages; ${late} late decisions`,
    )
    t.comment(
      `measured ${store}: ${kills} kills, ${lost} connections lost, ${unavailable} times 503, ${inProgress} in progress`,
    )
  })
}

/** Takes the providers down now and then. Returns how often. */
async function provideBadly(file: string, random: Random, signal: AbortSignal): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    await delay(500 + random.under(1500))
    if (signal.aborted) break
    writeFileSync(file, '')
    count += 1
    await delay(200 + random.under(300))
    rmSync(file)
  }
  return count
}

/**
 * Waits until no withdrawal is pending. A job that did not change for some time is not at work: its host is dead or it waits, and it
 * becomes due as by `jobs retry`.
 */
async function settle(db: SqlClient, clients: readonly Client[]): Promise<void> {
  const deadline = performance.now() + SETTLED_WITHIN_MS
  const pending = "select count(*) as n from gw_withdrawals where status = 'pending'"
  const jobs = "select subject_id, attempts from gw_jobs where kind = 'withdrawal.send' and due_at > $1"
  const retry = `update gw_jobs set due_at = $1 where kind = 'withdrawal.send' and subject_id = $2 and attempts = $3`
  let before = new Set<string>()
  while (toInteger((await rows(db, pending))[0]?.['n']) > 0 && performance.now() < deadline) {
    const waiting = await rows(db, jobs, [Date.now()])
    for (const { subject_id: id, attempts } of waiting)
      if (before.has(`${String(id)} ${String(attempts)}`))
        await rows(db, retry, [Date.now(), String(id), toInteger(attempts)])
    before = new Set(waiting.map(each => `${String(each['subject_id'])} ${String(each['attempts'])}`))
    await delay(1500)
  }
  for (const client of clients)
    for (const known of client.model.withdrawals)
      if (known.rejected && known.status === 'open') await lookAt(client, known)
}
