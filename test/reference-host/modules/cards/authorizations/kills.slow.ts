// Kills a host at every statement of everything that changes a payment by card, on both databases, and sends the same to the next
// host: ledger, transactions, caps and authorizations agree afterwards, and each thing has happened once.
import { randomUUID } from 'node:crypto'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import t from 'tap'
import {
  cardUser,
  keyBelow,
  networkEvent,
  networkRequest,
  type CardUser,
} from '../../../harness/card-payments.ts'
import { bootstrapUser, type HttpResponse } from '../../../../harness/host.ts'
import * as internals from '../../../../harness/internals.ts'
import { freshPlace, killsBefore } from '../../../harness/kill-place.ts'
import { responded } from '../../../harness/repeats.ts'
import { WEBHOOK_SECRET } from '../../../harness/kyc.ts'
import { startKillableHost, type Kill, type KillableHost } from '../../subscriptions/killable-host.ts'

type StoreName = 'postgres' | 'sqlite'

/** The caps of all policies have one counter here, so it must show what the authorizations hold or have cleared. */
const CAPS = `select
  (select coalesce(sum(used), 0) from gw_spend_counters) -
  (select coalesce(sum(case when status = 'authorized' then amount_cents else cleared_cents end), 0) from gw_authorizations) as cents,
  (select count(*) from gw_spend_holds) -
  (select count(*) from gw_authorizations where status = 'authorized') -
  (select count(*) from gw_authorization_increments i join gw_authorizations a on a.id = i.authorization_id
    where a.status = 'authorized' and i.decline_reason is null) as holds,
  (select count(*) from gw_authorizations a where a.status <> (select e.to_status from gw_events e
    where e.subject_id = a.id order by e.number desc limit 1)) as histories`

async function auditCards(db: SqlClient): Promise<readonly string[]> {
  const { sumCents, wrongAccounts, wrongTransfers } = await createLedger(db).check()
  const found = [
    ...wrongAccounts,
    ...wrongTransfers,
    ...(await internals.accountsThatDiffer(db, internals.heldMoney)).map(each =>
      internals.describeDifference(each, internals.heldMoney),
    ),
  ]
  if (sumCents !== 0) found.push(`the ledger adds up to ${sumCents}`)
  const [row = {}] = await rows(db, CAPS)
  for (const [name, value] of Object.entries(row))
    if (toInteger(value) !== 0) found.push(`${name}: ${toInteger(value)} more than the authorizations say`)
  return found
}

interface Bench {
  readonly host: KillableHost
  readonly user: CardUser
  readonly cardId: string
  readonly now: number
}
/** What is sent, also again after a death, and what it must have come to. */
interface Attempt {
  act(): Promise<HttpResponse>
  readonly status: string
  /** What the balance loses. */
  readonly costs: number
}

const STEPS: Readonly<Record<string, (bench: Bench) => Promise<Attempt>>> = {
  async authorize({ user, cardId }) {
    const key = randomUUID()
    const act = () => user.write('/sandbox/authorizations', { cardId, amountCents: 100 }, key)
    return { act, status: 'authorized', costs: 100 }
  },
  async 'authorize for a network'({ host, cardId, now }) {
    const data = networkRequest(cardId, { amountCents: 90 })
    const act = () => networkEvent(host.send, { type: 'authorization.request', data }, { now })
    return { act, status: 'approved', costs: 90 }
  },
  async 'raise for a network'({ host, cardId, now }) {
    const data = networkRequest(cardId, { amountCents: 90 })
    await networkEvent(host.send, { type: 'authorization.request', data }, { now })
    const increment = { id: data.id, incrementId: randomUUID(), amountCents: 10, currency: 'USD' }
    const act = () => networkEvent(host.send, { type: 'authorization.increment', data: increment }, { now })
    return { act, status: 'approved', costs: 100 }
  },
  async 'decline for want of money'({ user, cardId }) {
    const key = randomUUID()
    const act = () => user.write('/sandbox/authorizations', { cardId, amountCents: 50_000_000 }, key)
    return { act, status: 'declined', costs: 0 }
  },
  async 'clear a part'({ user, cardId }) {
    const { id } = await user.pay(cardId)
    const key = randomUUID()
    return { act: () => user.later(id, 'clear', { amountCents: 70 }, key), status: 'cleared', costs: 70 }
  },
  async reverse({ user, cardId }) {
    const { id } = await user.pay(cardId)
    const key = randomUUID()
    return { act: () => user.later(id, 'reverse', {}, key), status: 'reversed', costs: 0 }
  },
  async refund({ user, cardId }) {
    const { id } = await user.pay(cardId)
    await user.later(id, 'clear')
    const key = randomUUID()
    return { act: () => user.later(id, 'refund', { amountCents: 30 }, key), status: 'cleared', costs: 70 }
  },
}

function statusOf({ body }: HttpResponse): unknown {
  const { authorization, decision } = body.data as Record<string, Record<string, unknown> | undefined>
  return authorization?.['status'] ?? (decision?.['approved'] === true ? 'approved' : decision)
}

/** Where else to kill besides before each statement: after the last, and on Postgres where a commit may be unknown. */
function further(store: StoreName, statements: readonly string[]): readonly Kill[] {
  const commits = statements.flatMap((text, index) => (text.endsWith('commit') ? [index + 1] : []))
  const during = store === 'postgres' ? commits.map(at => ({ moment: 'during', at }) as const) : []
  return [...during, { moment: 'after', at: statements.length }]
}

t.setTimeout(1_800_000)
// The two databases are independent.
t.jobs = 2

for (const store of ['postgres', 'sqlite'] as const) {
  void t.test(
    `a killed host neither loses nor repeats nor half-books a payment, on ${store}`,
    { buffered: true },
    async t => {
      const place = await freshPlace(store)
      t.teardown(() => place.close())
      const clock = manualClock()
      const env = { PORT: '0', RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` }
      const host = await startKillableHost({ ...env, ...place.env }, clock)
      t.teardown(() => host.kill())
      const { token: root } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
      const user = cardUser(host.send, root)
      await user.fund(1_000_000)
      const policy = { limits: [{ operations: ['cards.authorize'], maxCents: 100_000_000, window: 'total' }] }
      const { token } = await keyBelow(host.send, root, policy)
      const cardId = await cardUser(host.send, token).card({
        limit: { amount: 90_000_000, frequency: 'allTime' },
      })
      const bench = { host, user, cardId, now: clock.now() }
      let balance = 1_000_000
      const { first, every, among } = killsBefore(store)
      for (const [name, step] of Object.entries(STEPS)) {
        let deaths = 0
        const kill = async (at: Kill): Promise<readonly string[] | undefined> => {
          const title = `${store}, ${name}: killed ${at.moment} statement ${at.at}`
          const attempt = await step(bench)
          const { died, statements } = await host.killing(at, attempt.act)
          if (died) {
            deaths += 1
            t.same(await place.audit(auditCards), [], title)
            await host.restart()
          }
          const response = await responded(() => attempt.act())
          t.equal(statusOf(response), attempt.status, `${title}: the response`)
          t.equal(statusOf(await attempt.act()), attempt.status, `${title}: the response stays`)
          balance -= attempt.costs
          t.equal(await user.balance(), balance, `${title}: the balance`)
          return died ? undefined : statements
        }
        let lived: readonly string[] | undefined
        for (let at = first; !lived; at += every) lived = await kill({ moment: 'before', at })
        t.equal(deaths, among(lived), `it died at ${deaths} statements`)
        for (const each of further(store, lived))
          t.notOk(await kill(each), `it died ${each.moment} ${each.at}`)
        t.ok(lived.some(text => text.endsWith('commit')) && lived.length >= 3, lived.join('; '))
        t.comment(`measured ${store}, ${name}: ${deaths} kills over ${lived.length} statements`)
      }
      await host.kill()
      t.same(await place.audit(auditCards), [], 'in the end')
    },
  )
}
