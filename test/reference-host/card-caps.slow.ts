// Many payments at once never pass a cap, a limit of a card or the balance: on one embedded host, and on three hosts that
// share a Postgres.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import t, { type Test } from 'tap'
import { decided } from './harness/repeats.ts'
import { cardUser, keyBelow, type CardUser } from './harness/card-payments.ts'
import { openDatabaseOf } from '../harness/database-rows.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { bearer, bootstrapUser, request, spawnHost, type TestHost } from '../harness/host.ts'
import * as internals from '../harness/internals.ts'

/** Hosts on one database. */
interface Hosts {
  readonly dialect: 'postgres' | 'sqlite'
  /** Sends to one host after the other. */
  readonly send: TestHost['send']
  /** What is wrong with the ledger and the rows that it must agree with. */
  faults(): Promise<readonly string[]>
}

async function startHosts(t: Test, dialect: Hosts['dialect']): Promise<Hosts> {
  const stores = await hostStoresEnv(dialect === 'postgres' ? 'postgres' : 'embedded')
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-card-caps-'))
  const env = { ...stores.env, RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }
  const count = dialect === 'postgres' ? 3 : 1
  const hosts = await Promise.all(Array.from({ length: count }, () => spawnHost(dataDir, env)))
  const { db, close } = openDatabaseOf({ ...env, DATA_DIR: dataDir })
  t.teardown(async () => {
    await Promise.all(hosts.map(host => host.stop('SIGTERM')))
    await close()
    await stores.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  let turn = 0
  return {
    dialect,
    send: (path, options) =>
      decided(() => request((hosts[(turn += 1) % count] as { url: string }).url, path, options)),
    async faults() {
      const { sumCents, wrongAccounts, wrongTransfers } = await createLedger(db).check()
      const differ = (await internals.accountsThatDiffer(db, internals.heldMoney)).map(each =>
        internals.describeDifference(each, internals.heldMoney),
      )
      return [...(sumCents === 0 ? [] : [`sum ${sumCents}`]), ...wrongAccounts, ...wrongTransfers, ...differ]
    },
  }
}

interface Owner extends CardUser {
  readonly token: string
}

async function owner({ send }: Hosts, amountCents: number): Promise<Owner> {
  const { token } = await bootstrapUser(send)
  const user = cardUser(send, token)
  await user.fund(amountCents)
  return { ...user, token }
}

/** Pays 100 times 100 cents at once, with one card after the other. Returns how many were approved, and why the others were not. */
async function payAll(
  user: CardUser,
  cards: readonly string[],
): Promise<readonly [number, readonly string[]]> {
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, n) => user.pay(cards[n % cards.length] as string)),
  )
  const reasons = new Set(all.flatMap(({ declineReason }) => declineReason ?? []))
  return [all.filter(({ status }) => status === 'authorized').length, [...reasons]]
}

for (const dialect of ['sqlite', 'postgres'] as const) {
  t.test(dialect, async t => {
    const hosts = await startHosts(t, dialect)

    await t.test('100 payments on ten cards of one key stay within its daily cap', async t => {
      const user = await owner(hosts, 20_000)
      const { keyId, token } = await keyBelow(hosts.send, user.token, { dailySpendCapCents: 5000 })
      const maker = cardUser(hosts.send, token)
      const cards = []
      for (let n = 0; n < 10; n += 1) cards.push(await maker.card())
      t.same(await payAll(user, cards), [50, ['policy_blocked']])
      t.same(await hosts.faults(), [])
      t.equal(await user.balance(), 15_000)

      const change = { method: 'PATCH', body: { policy: { dailySpendCapCents: 0 } } }
      await hosts.send(`/user/v1/keys/${keyId}`, { ...change, headers: bearer(user.token) })
      const blocked = { declineReason: 'policy_blocked', declineRule: 'dailySpendCapCents' }
      // The hosts respond in turn, so each of them sees the new cap.
      for (const cardId of cards) t.match(await user.pay(cardId, { amountCents: 1 }), blocked)
    })

    await t.test('100 payments with one card stay within its window of 24 hours', async t => {
      const user = await owner(hosts, 20_000)
      const card = await user.card({ limit: { amount: 4200, frequency: 'per24HourPeriod' } })
      t.same(await payAll(user, [card]), [42, ['card_limit_exceeded']])
      t.same(await hosts.faults(), [])
    })

    await t.test('100 payments stay within the balance', async t => {
      const user = await owner(hosts, 3300)
      t.same(await payAll(user, [await user.card(), await user.card()]), [33, ['insufficient_funds']])
      t.equal(await user.balance(), 0)
      t.same(await hosts.faults(), [])
    })
  })
}
