// A host is killed right after it has responded to a change, while it publishes the events of the change, and while it sends them, on both
// databases. The next host goes on: every event arrives at least once, a repetition has the same id and bytes, and the numbers of each object
// have no gaps. Kills at every statement of a change are in the suites of the changes.
import { type SqlClient, rows } from '@gatewright/kernel/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { hostSecrets } from '../../../harness/host-stores.ts'
import * as internals from '../../../harness/internals.ts'
import { freshPlace, killsDuring, type Act, type Place } from '../../harness/kill-place.ts'
import { kycBody, kycUser } from '../../harness/kyc.ts'
import { stepsOf, turnOf } from '../../../harness/turns.ts'
import { addEndpointOf, startReceiver, type Receiver } from '../../harness/webhooks.ts'
import { startKillableHost, type Kill, type KillableHost } from '../subscriptions/killable-host.ts'

const JOBS = 'run jobs kyc.submit'
const PUBLISH = 'publish events'
const DELIVER = 'deliver events'
/** Longer than the leases of a job and of an endpoint, in ms. */
const PAST_LEASES_MS = 700_000
/** The statement that stores what came of the attempts of an endpoint. */
const NOTE = 'update gw_webhook_endpoints set sent_to'

/** A run kills hosts before every how-many-th statement, and during how many, by turns: each kill costs the start of a host. */
const KILL_EVERY = 8
const KILLS_DURING = 2

interface Bench {
  readonly host: KillableHost
  /** A change with two events: an application is submitted, and approved at once. */
  readonly change: Act
}

/** What is killed, by the chore that is done. Each resolves when there is something to do. */
const STEPS: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  [PUBLISH]: ({ change }) => change(),
  async [DELIVER]({ host, change }) {
    await change()
    await host.chore(PUBLISH)
  },
}

/** Makes the tables, and an endpoint for the events of wallet users. */
async function prepare(place: Place, dataKeys: string, url: string, clock: ManualClock): Promise<void> {
  const db = place.open()
  await internals.migrateHost(db)
  await internals.createEventLanes(db)
  await addEndpointOf(db, dataKeys, { recipientId: internals.OPERATOR, url }, clock.now())
}

interface Body {
  readonly data: { readonly eventId: string; readonly id: string; readonly number: number }
}

/** What a receiver got, each event once. Throws if a repetition has other bytes. */
function eventsOf({ received }: Receiver): ReadonlyMap<string, Body['data']> {
  const bodies = new Map<string, string>()
  for (const { id, body } of received) {
    if ((bodies.get(id) ?? body) !== body) throw new Error(`the repetition of ${id} has other bytes`)
    bodies.set(id, body)
  }
  return new Map([...bodies].map(([id, body]) => [id, (JSON.parse(body) as Body).data]))
}

/** The objects whose numbers are not 1, 2, ... */
function objectsWithGaps(events: Iterable<Body['data']>): readonly string[] {
  const numbers = new Map<string, number[]>()
  for (const { id, number } of events) numbers.set(id, [...(numbers.get(id) ?? []), number])
  return [...numbers]
    .filter(([, all]) => all.toSorted((a, b) => a - b).some((number, index) => number !== index + 1))
    .map(([id]) => id)
}

const recordedIds = async (db: SqlClient): Promise<unknown[]> =>
  (await rows(db, 'select id from gw_events order by id')).map(row => row['id'])

t.setTimeout(1_800_000)
t.jobs = 2

for (const store of ['postgres', 'sqlite'] as const) {
  void t.test(
    `every event arrives although hosts are killed on its way, on ${store}`,
    { buffered: true },
    async t => {
      const place = await freshPlace(store)
      const receiver = await startReceiver()
      t.teardown(() => Promise.all([place.close(), receiver.close()]))
      const clock = manualClock()
      const env: Record<string, string> = {
        PORT: '0',
        RATE_LIMITS: 'off',
        ...hostSecrets(),
        ...place.env,
      }
      await prepare(place, env['DATA_KEYS'] ?? '', receiver.url, clock)
      const host = await startKillableHost(env, clock)
      t.teardown(() => host.kill())
      const { first, every } = stepsOf(KILL_EVERY)
      let changes = 0
      const newChange = async (): Promise<Act> => {
        const one = await kycUser(host, clock.now())
        changes += 1
        return () => one.submit(kycBody('Approved'))
      }
      /** Does what is left to do, and expects that all events have arrived. */
      const arrives = async (title: string): Promise<void> => {
        clock.advance(PAST_LEASES_MS)
        for (const chore of [JOBS, PUBLISH, DELIVER]) await host.chore(chore)
        t.equal(eventsOf(receiver).size, 2 * changes, title)
      }

      await (await newChange())()
      await host.kill()
      await host.restart()
      await arrives('killed before anything was published')
      for (const [chore, prepareStep] of Object.entries(STEPS)) {
        /** Kills the host in the chore. Returns the statements of the chore if it was not killed. */
        const kill = async (at: Kill): Promise<readonly string[]> => {
          await prepareStep({ host, change: await newChange() })
          const { died, statements } = await host.killing(at, () => host.chore(chore))
          if (died) await host.restart()
          await arrives(`${chore}: killed ${at.moment} statement ${at.at}`)
          return statements
        }
        const lived = await kill({ moment: 'before', at: Number.MAX_SAFE_INTEGER })
        let deaths = 0
        const killed = async (at: Kill): Promise<void> => {
          const { length: ran } = await kill(at)
          // While a host sends it looks for further endpoints every half second: a slow run has more statements than another.
          if (ran > 0 && (chore === PUBLISH || at.of !== undefined || ran >= at.at))
            t.fail(`${chore}: not killed ${at.moment} statement ${at.at}`)
          if (ran === 0) deaths += 1
        }
        for (let at = first + 1; at <= lived.length; at += every) await killed({ moment: 'before', at })
        for (const at of store === 'postgres' ? turnOf(killsDuring(lived), KILLS_DURING) : [])
          await killed({ moment: 'during', at })
        if (chore === PUBLISH) await killed({ moment: 'after', at: lived.length })
        else {
          const before = receiver.received.length
          await killed({ moment: 'before', at: 1, of: NOTE })
          t.equal(receiver.received.length, before + 4, 'what was sent and not noted is sent again')
        }
        t.comment(`measured ${store}, ${chore}: ${deaths} kills over ${lived.length} statements`)
      }
      await host.kill()
      const told = eventsOf(receiver)
      t.same([...told.keys()].toSorted(), await recordedIds(place.open()), 'nothing else was sent')
      t.same(objectsWithGaps(told.values()), [])
    },
  )
}
