// A host is killed at its statements, which take turns by the day, and around every effect of its providers, of all that moves money in, out or between accounts, on
// both databases. The next host is asked the same again: money, caps and transactions agree, and no id was sent twice.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rows } from '@gatewright/kernel/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import t from 'tap'
import { bootstrapUser, type HttpResponse } from '../../../harness/host.ts'
import * as internals from '../../../harness/internals.ts'
import { freshPlace, killsBefore, killsDuring, type Act } from '../../harness/kill-place.ts'
import { responded } from '../../harness/repeats.ts'
import { signedFields, WEBHOOK_SECRET } from '../../harness/kyc.ts'
import { fundedUser, memberOf, withdrawalBody, type TransferUser } from '../../harness/transfers.ts'
import { startKillableHost, type Kill, type KillableHost } from '../subscriptions/killable-host.ts'
import { temporaryFolder } from '../../../harness/files.ts'

const { accountsThatDiffer, heldMoney } = internals
const PROVIDERS = 'build/test/reference-host/modules/withdrawals/journal-providers.child.js'
const JOBS = 'run jobs withdrawal.send'
const CAP = 10_000
const COUNTED = ['withdrawals.*', 'payments.create', 'bills.pay']

interface Bench {
  readonly host: KillableHost
  readonly clock: ManualClock
  readonly user: TransferUser
}
/** What is killed, and what has left the account once everything has ended. */
interface Attempt {
  readonly act: Act
  readonly left?: number
  readonly came?: number
}

let key = 0
const write = ({ user }: Bench, path: string, body: object): Act => {
  const name = `kill-${String(++key).padStart(6, '0')}`
  return () => user.write(path, body, name)
}
const event = ({ host, clock }: Bench, type: string, data: object): Act => {
  const body = JSON.stringify({ type, data })
  const id = `msg_${++key}`
  return () =>
    host.send('/providers/journal/events', { body, headers: signedFields(body, { now: clock.now(), id }) })
}
const made = async (bench: Bench, cents: number): Promise<string> => {
  const response = (await write(bench, '/withdrawals', withdrawalBody(cents))()) as HttpResponse
  return memberOf(response, 'withdrawal').id
}
const round =
  ({ host, clock }: Bench): Act =>
  () => {
    clock.advance(60_000)
    return host.chore(JOBS)
  }
const none = { reason: null, txHash: null, paidCents: null, relay: null }

const STEPS: Readonly<Record<string, (bench: Bench) => Promise<Attempt>>> = {
  'a withdrawal': async bench => ({ act: write(bench, '/withdrawals', withdrawalBody(1000)), left: 1000 }),
  async 'the round that sends it'(bench) {
    await made(bench, 1000)
    return { act: round(bench), left: 1000 }
  },
  async 'the round whose response is lost'(bench) {
    await made(bench, 777)
    return { act: round(bench), left: 777 }
  },
  async 'the round that completes it'(bench) {
    await made(bench, 1000)
    await round(bench)()
    await round(bench)()
    return { act: round(bench), left: 1000 }
  },
  async 'an event that fails it'(bench) {
    const id = await made(bench, 1000)
    return { act: event(bench, 'withdrawal.report', { ...none, id, status: 'failed' }) }
  },
  'a deposit': async bench => ({
    act: write(bench, '/deposits', { currency: 'usdc', network: 'base' }),
  }),
  async 'a payment that reaches a deposit'(bench) {
    const response = (await write(bench, '/deposits', {
      currency: 'usdc',
      network: 'base',
    })()) as HttpResponse
    const { id } = memberOf(response, 'deposit')
    const payments = [{ id: `pay-${++key}`, creditedCents: 300 }]
    return { act: event(bench, 'deposit.report', { id, status: 'completed', payments }), came: 300 }
  },
  async 'a payment to another wallet'(bench) {
    const { address } = await bootstrapUser(bench.host.send, {}, bench.clock.now())
    return {
      act: write(bench, '/payments', { to: { walletAddress: address }, amountCents: 1000 }),
      left: 1000,
    }
  },
  async 'a bill that is paid'(bench) {
    const bill = { payee: 'City Power', amountCents: 1000, dueAt: '2026-02-01' }
    const { id } = memberOf((await write(bench, '/bills', bill)()) as HttpResponse, 'bill')
    return { act: write(bench, `/bills/${id}/pay`, {}), left: 1000 }
  },
  async 'money put aside'(bench) {
    const { id } = memberOf((await write(bench, '/contracts', {})()) as HttpResponse, 'contract')
    const move = { amountCents: 500, fromContractId: null, toContractId: id }
    return { act: write(bench, '/deposits/transfer', move), came: -500 }
  },
}

t.setTimeout(1_800_000)
t.jobs = 2

for (const store of ['postgres', 'sqlite'] as const) {
  void t.test(
    `a killed host neither loses nor repeats money in, out or between accounts, on ${store}`,
    { buffered: true },
    async t => {
      const place = await freshPlace(store)
      t.teardown(() => place.close())
      const folder = temporaryFolder(t)
      const journal = join(folder, 'journal')
      const clock = manualClock()
      const host = await startKillableHost(
        {
          PORT: '0',
          RATE_LIMITS: 'off',
          PROVIDER_WEBHOOK_SECRETS: `journal=${WEBHOOK_SECRET}`,
          JOURNAL: journal,
          ...place.env,
        },
        clock,
        PROVIDERS,
      )
      t.teardown(() => host.kill())
      const policy = { limits: [{ operations: COUNTED, maxCents: CAP, window: 'total' }] }
      const { first, every, among } = killsBefore(store)
      for (const [name, step] of Object.entries(STEPS)) {
        let deaths = 0
        const kill = async (at: Kill): Promise<readonly string[] | undefined> => {
          const title = `${store}, ${name}: killed ${at.moment} statement ${at.at}`
          const user = await fundedUser(host, 20_000, { now: clock.now(), policy })
          const { act, left = 0, came = 0 } = await step({ host, clock, user })
          const { died, statements } = await host.killing(at, act)
          if (died) {
            deaths += 1
            await host.restart()
          }
          const again = await responded(act)
          if (again) t.equal(again.status, 200, title)
          for (let rounds = 0; rounds < 4; rounds += 1) {
            clock.advance(60_000)
            await host.chore(JOBS)
          }
          const { balances } = (await user.read('/balances')).body.data as {
            balances: [{ availableCents: number }]
          }
          t.equal(balances[0].availableCents, 20_000 - left + came, `${title}: the balance`)
          const over = await user.write('/withdrawals', withdrawalBody(CAP + 1))
          t.match(
            over,
            { status: 403, body: { rule: 'limits', remaining: CAP - left } },
            `${title}: the caps`,
          )
          return died ? undefined : statements
        }
        let lived: readonly string[] | undefined
        for (let at = first; !lived; at += every) lived = await kill({ moment: 'before', at })
        await kill({ moment: 'after', at: lived.length })
        const effects = [...lived.entries()].filter(([, text]) => text.startsWith('provider: send'))
        for (const [index] of effects)
          t.notOk(await kill({ moment: 'after', at: index + 1 }), 'it died after the effect')
        for (const at of store === 'postgres' ? killsDuring(lived) : []) await kill({ moment: 'during', at })
        t.ok(lived.length >= 3 && deaths >= among(lived), lived.join('; '))
        t.comment(`measured ${store}, ${name}: ${deaths} kills over ${lived.length} statements`)
      }
      await host.kill()
      const sent = readFileSync(journal, 'utf8')
        .split('\n')
        .filter(line => line.startsWith('send '))
      t.ok(sent.length > 50 / every, `${sent.length} sends`)
      t.equal(new Set(sent).size, sent.length, 'no id was sent twice')
      const db = place.open()
      t.same(await accountsThatDiffer(db, heldMoney), [])
      t.match(await createLedger(db).check(), { sumCents: 0, wrongAccounts: [] })
      const open =
        "select id from gw_withdrawals where status in ('pending', 'ready') or attention is not null"
      t.same(await rows(db, open), [], 'all have ended')
      t.same(await rows(db, 'select * from gw_spend_holds'), [], 'no hold is left')
      const held = 'select * from gw_spend_counters where held <> 0'
      t.same(await rows(db, held), [], 'nothing is counted as held')
    },
  )
}
