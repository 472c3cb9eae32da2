// Kills a host at every statement of everything that changes a pay-in, on both databases, and sends the same
// to the next host.
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { freshPlace, killsBefore, killsDuring } from '../../harness/kill-place.ts'
import { responded } from '../../harness/repeats.ts'
import { auditMoney } from './audit.ts'
import { startEvm } from '../../../harness/chain/evm.ts'
import { payinOf } from '../../harness/money.ts'
import { chainUser, payinChain } from '../../harness/paid-host.ts'
import { STEPS, type Attempt, type StepContext } from './kill-steps.ts'
import { startKillableHost, type Kill } from './killable-host.ts'

type StoreName = 'postgres' | 'sqlite'

const CAP = 10_000_000
/**
 * Where else to kill besides before each statement (which is after the previous one): after the last
 * statement; and on Postgres, between sending and receiving, wherever something may be committed without
 * anybody knowing.
 */
function further(store: StoreName, statements: readonly string[]): readonly Kill[] {
  const during = store === 'postgres' ? killsDuring(statements) : []
  return [
    { moment: 'after', at: statements.length },
    ...during.map(at => ({ moment: 'during', at }) as const),
  ]
}

/** The expected state of a step's account. */
interface Account {
  readonly payins: Map<string, string>
  balanceCents: number
  capUsedCents: number
  subscriptions: number
}

async function checkAccount(
  t: Test,
  { user }: StepContext,
  account: Account,
  attempt: Attempt,
  title: string,
) {
  const { status, cause, change } = attempt
  const response = await responded(() => attempt.again())
  const repeat = response && (await attempt.again())
  const payin = response ? payinOf(response) : attempt.payin
  if (repeat) t.match(repeat, { status: 200, body: response.body }, `${title}: the response stays`)
  const id = payin?.id as string
  t.match((response && payin) ?? { status }, { status }, `${title}: the response`)
  account.payins.set(id, status)
  for (const what of ['balanceCents', 'capUsedCents', 'subscriptions'] as const) account[what] += change[what]
  const read = await user.payin(id)
  t.match(read, { status, amountCents: Number }, title)
  t.equal(read.history?.at(-1)?.cause, cause, title)
  const list = async (name: string): Promise<{ id: string; status: string }[]> =>
    (await user.read(`/subscriptions${name === 'payins' ? '/payins' : ''}?limit=100`)).body.data[
      name
    ] as never
  const payins = Object.fromEntries((await list('payins')).map(each => [each.id, each.status]))
  t.same(payins, Object.fromEntries(account.payins), `${title}: none is lost, double or half`)
  t.equal((await list('subscriptions')).length, account.subscriptions, `${title}: subscriptions`)
  t.equal(await user.balance(), account.balanceCents, `${title}: the balance`)
  const blocked = await user.write('/subscriptions/payin', { amountCents: 100_000_000 })
  t.match(blocked, { status: 403, body: { remaining: CAP - account.capUsedCents } }, `${title}: the cap`)
  if (!attempt.settlesLater) return
  account.payins.set(id, 'settled')
  account.balanceCents += read.amountCents
}

t.setTimeout(1_800_000)
// The two databases are independent.
t.jobs = 2

for (const store of ['postgres', 'sqlite'] as const) {
  void t.test(
    `a killed host neither loses nor repeats nor half-applies a write, on ${store}`,
    { buffered: true },
    async t => {
      const place = await freshPlace(store)
      t.teardown(() => place.close())
      const evm = await startEvm()
      t.teardown(() => evm.stop())
      const clock = manualClock()
      const chain = { ...(await payinChain(evm, clock)), ...evm }
      const receivers = JSON.parse(chain.env['PAYIN_RECEIVERS'] as string) as Record<string, unknown>[]
      const own = Array.from({ length: 200 }, (_, n) => `0x${(0xd00000 + n).toString(16).padStart(40, '0')}`)
      ;(receivers[1] as Record<string, unknown>)['depositAddresses'] = own
      const host = await startKillableHost(
        {
          PORT: '0',
          RATE_LIMITS: 'off',
          CHAIN_POLL_SECONDS: '100',
          ...place.env,
          ...chain.env,
          PAYIN_RECEIVERS: JSON.stringify(receivers),
        },
        clock,
      )
      t.teardown(() => host.kill())
      const policy = { limits: [{ operations: ['subscriptions.*'], maxCents: CAP, window: 'total' }] }
      let accounts = 0
      const { first, every, among } = killsBefore(store)
      for (const [name, step] of Object.entries(STEPS)) {
        const started = performance.now()
        accounts += 1
        const user = await chainUser(host.send, accounts, clock.now(), { policy })
        const context: StepContext = { host, clock, chain, user }
        const account: Account = { payins: new Map(), balanceCents: 0, capUsedCents: 0, subscriptions: 0 }
        let deaths = 0
        const kill = async (at: Kill): Promise<readonly string[] | undefined> => {
          const title = `${store}, ${name}: killed ${at.moment} statement ${at.at}`
          context.user = await context.user.renewed()
          const attempt = await step(context)
          const { died, statements } = await host.killing(at, attempt.act)
          if (died) {
            deaths += 1
            t.same(await place.audit(db => auditMoney(db, store)), [], title)
            await host.restart()
          }
          await checkAccount(t, context, account, attempt, title)
          return died ? undefined : statements
        }
        let lived: readonly string[] | undefined
        for (let at = first; !lived; at += every) lived = await kill({ moment: 'before', at })
        t.equal(deaths, among(lived), `it died at ${deaths} statements`)
        for (const each of further(store, lived))
          t.notOk(await kill(each), `it died ${each.moment} ${each.at}`)
        t.ok(lived.some(text => text.endsWith('commit')) && lived.length >= 3, lived.join('; '))
        const seconds = ((performance.now() - started) / 1000).toFixed(1)
        t.comment(`measured ${store}, ${name}: ${deaths} kills over ${lived.length} statements, ${seconds} s`)
      }
      await host.kill()
      t.same(await place.audit(db => auditMoney(db, store)), [], 'in the end')
    },
  )
}
