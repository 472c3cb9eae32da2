// Four hosts on one Postgres and one chain are killed at random, and compared with a model of what their
// clients did and received.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fromPgPool } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import pg from 'pg'
import t from 'tap'
import { auditMoney } from './audit.ts'
import { mine, rpc, startEvm } from '../../../harness/chain/evm.ts'
import { startFleet } from '../../harness/fleet.ts'
import { hostStoresEnv } from '../../../harness/host-stores.ts'
import type { HttpResponse } from '../../../harness/host.ts'
import type { WirePayin } from '../../harness/money.ts'
import { chainUser, payinChain } from '../../harness/paid-host.ts'
import { randomOf } from '../../harness/random.ts'
import { actOnce, type Client } from './model-client.ts'
import { differences, newModel } from './model.ts'
import { temporaryFolder } from '../../../harness/files.ts'

const SEED = 20_261_121
const OPERATIONS = 1000
const CLIENTS = 16
/** The first clients send one request at a time, the others three. */
const ALONE = 6
const LANES = 3
const LEAST_KILLS = 5
const DAY_MS = 86_400_000
const SETTLED_WITHIN_MS = 60_000

t.setTimeout(1_800_000)

/** A daily cap must not reset during the test. */
async function farFromMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < 300_000) await delay(left + 1000)
}

t.test(
  'balances, states and caps match what the clients did and received, whichever hosts are killed',
  async t => {
    await farFromMidnight()
    t.comment(`measured with seed ${SEED}`)
    const evm = await startEvm()
    t.teardown(() => evm.stop())
    const chain = await payinChain(evm, manualClock())
    // Block times are later than the pay-ins that they pay, however many pay-ins fall into one second.
    await rpc(evm.url, 'evm_increaseTime', 600)
    const directory = temporaryFolder(t)
    const plans = Array.from({ length: 150 }, (_, n) => ({ id: `plan-${n}`, amountCents: 301 + n }))
    const file = join(directory, 'plans.json')
    const full = plans.map(plan => ({ ...plan, title: plan.id, interval: 'month' }))
    writeFileSync(file, JSON.stringify({ plans: full }))
    const stores = await hostStoresEnv('postgres')
    const settings = { RATE_LIMITS: 'off', LOG_LEVEL: 'error', CHAIN_POLL_SECONDS: '1', PLANS_FILE: file }
    const fleet = await startFleet(4, { ...stores.env, ...chain.env, ...settings }, randomOf(SEED))
    const pool = new pg.Pool({ connectionString: stores.env['DATABASE_URL'], max: 1 })
    t.teardown(async () => {
      await fleet.stop()
      await pool.end()
      await stores.drop()
    })

    const shuffled = randomOf(SEED + 1)
    const newClient = async (at: number): Promise<Client> => {
      // One third each: caps reached early, caps reached late, and caps never reached.
      const capCents = [4000, 20_000, 100_000_0][at % 3] as number
      const user = await chainUser(fleet.send, at + 1, Date.now(), {
        policy: { dailySpendCapCents: capCents },
      })
      return {
        user,
        model: newModel(capCents),
        alone: at < ALONE,
        responses: [],
        nextAmount: 700,
        url: evm.url,
        plans: plans.toSorted(() => shuffled.next() - 0.5),
        pay: units => chain.usdc.transfer(user.account, chain.receiver, units),
      }
    }
    const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, at) => newClient(at)))

    const started = performance.now()
    const stopKilling = fleet.killing(randomOf(SEED + 2))
    const done: Record<string, number> = {}
    let begun = 0
    const lane = async (client: Client, seed: number): Promise<void> => {
      const random = randomOf(seed)
      // On a fast machine the operations could end before enough hosts were killed.
      while (begun < OPERATIONS || fleet.counts.kills < LEAST_KILLS) {
        begun += 1
        const act = await actOnce(client, random)
        done[act] = (done[act] ?? 0) + 1
      }
    }
    const lanes = clients.flatMap(client => Array.from({ length: client.alone ? 1 : LANES }, () => client))
    await Promise.all(lanes.map((client, at) => lane(client, SEED + 10 + at)))
    const seconds = (performance.now() - started) / 1000
    await stopKilling()

    await mine(evm.url, 3)
    const differ = async (): Promise<string[]> => (await Promise.all(clients.map(compared))).flat()
    const deadline = performance.now() + SETTLED_WITHIN_MS
    while ((await differ()).length > 0 && performance.now() < deadline) await delay(500)
    // The chain must cause no further changes.
    await delay(3000)
    t.same(await differ(), [])
    t.same(await auditMoney(fromPgPool(pool), 'postgres'), [])
    t.ok(begun >= OPERATIONS)
    const all = clients.flatMap(({ model }) => [...model.payins.values()])
    const settled = all.filter(({ balancePaid, transfer }) => balancePaid || transfer).length
    const blocked = clients.reduce((sum, { model }) => sum + model.blocked.length, 0)
    const { kills, lost, unavailable, inProgress } = fleet.counts
    t.ok(
      kills >= LEAST_KILLS && lost > 0 && blocked > 0 && settled > 50,
      'hosts were killed, caps applied, and money moved',
    )
    t.comment(`measured ${begun} operations in ${seconds.toFixed(1)} s: ${JSON.stringify(done)}`)
    t.comment(`measured ${all.length} pay-ins, ${settled} settled, ${blocked} blocked by a cap`)
    t.comment(
      `measured ${kills} kills, ${lost} connections lost, ${unavailable} times 503, ${inProgress} in progress`,
    )
  },
)

/** Compares everything that a client reads at the end with its model. */
async function compared({ user, model }: Client): Promise<string[]> {
  const every = async (path: string, name: string): Promise<unknown[]> => {
    const items: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data }: HttpResponse['body'] = (
        await user.read(`${path}?limit=50${cursor ? `&cursor=${cursor}` : ''}`)
      ).body
      items.push(...(data[name] as unknown[]))
      cursor = data['nextCursor'] as string | null
    }
    return items
  }
  const probe = await user.write('/subscriptions/payin', { amountCents: 100_000_000 })
  const found = {
    payins: (await every('/subscriptions/payins', 'payins')) as WirePayin[],
    subscriptions: (await every('/subscriptions', 'subscriptions')) as { id: string; status: string }[],
    balance: await user.balance(),
    remaining: probe.body['remaining'] as number,
  }
  return [...differences(model, found)]
}
