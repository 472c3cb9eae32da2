// A server of `gatewright/express` is killed at every statement of a write that spends, and around its payment, on both databases. The next
// server gets the same request until somebody has decided: it is paid at most once, and the counters agree with what was paid.
import { fileURLToPath } from 'node:url'
import { createLostRuns, type LostRuns } from '@gatewright/idempotency-store'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { endRunHolds } from '@gatewright/scope-guard'
import t, { type Test } from 'tap'
import { bundled } from '../../harness/bundle.ts'
import type { HttpResponse } from '../../harness/host.ts'
import { startKillable, type Killable } from '../../harness/databases/killable.ts'
import type { Kill } from '../../harness/databases/statement-kills.ts'
import { turnOf } from '../../harness/turns.ts'
import { AUDIENCE, ISSUER, sign, signingKey } from '../../scope-guard/issuer.ts'
import { listening } from '../world.ts'
import { freshPlace, type Place } from './place.ts'
import { createProcessor, responseOf, sum } from './processor.ts'

type StoreName = 'postgres' | 'sqlite'
/** Who decides about a lost run. */
type Decider = 'operator' | 'recover'

const CHILD = fileURLToPath(new URL('server.child.js', import.meta.url))
const LEASE_MS = 30_000
const CAP = 10_000
/** The largest amount that the processor pays. */
const MOST_PAID = 5000
const key = await signingKey('ES256')
const [script = CHILD] = await bundled([CHILD])

/** A write that is killed. */
interface Write {
  readonly path: string
  readonly cents: number
  readonly paidCents: number
  /** The status of its response. */
  readonly status: number
  /** How its kills end, by who decides about a lost run. */
  readonly endings: Readonly<Partial<Record<Decider, readonly Ending[]>>>
}

/** What the client of a killed write gets, with the state that the kill left behind. */
type Ending =
  | 'runs again'
  | 'is unknown: nothing is held'
  | 'is unknown: held'
  | 'is unknown: held and paid'
  | 'is replayed, and its hold is open'
  | 'is replayed'

const UNPAID = ['is unknown: held', 'is unknown: nothing is held', 'runs again'] as const
const REPLAYED = ['is replayed', 'is replayed, and its hold is open'] as const
const ALL = [...REPLAYED, ...UNPAID, 'is unknown: held and paid'] as const
const WRITES = {
  'a payment': {
    path: '/payments',
    cents: 4000,
    paidCents: 4000,
    status: 201,
    endings: { operator: ALL, recover: [...REPLAYED, 'runs again'] },
  },
  'a payment of which half is settled': {
    path: '/refundable',
    cents: 4000,
    paidCents: 2000,
    status: 201,
    endings: { operator: ALL },
  },
  'a payment that is declined': {
    path: '/payments',
    cents: 6000,
    paidCents: 0,
    status: 402,
    endings: { operator: UNPAID, recover: ['runs again'] },
  },
} as const satisfies Record<string, Write>

/** A sequence of servers, and all that outlives them. */
interface World {
  readonly place: Place
  readonly server: Killable
  readonly clock: ManualClock
  readonly lostRuns: LostRuns
  readonly processor: ReturnType<typeof createProcessor> & { readonly url: string }
}

async function startWorld(t: Test, store: StoreName, decider: Decider): Promise<World> {
  const place = await freshPlace(store)
  t.teardown(() => place.close())
  const processor = createProcessor(MOST_PAID)
  const { url, close } = await listening(processor.server.listen(0, '127.0.0.1'))
  t.teardown(close)
  const clock = manualClock()
  const env = {
    PROCESSOR: url,
    LEASE_MS: `${LEASE_MS}`,
    CAP: `${CAP}`,
    JWK: JSON.stringify(key.jwk),
    DECIDED_BY: decider,
    ...place.env,
  }
  const server = await startKillable(script, env, clock)
  t.teardown(() => server.kill())
  const { idempotency: storage, spends } = place.store
  const lostRuns = createLostRuns({
    storage,
    clock,
    endHolds: (run, outcome) => endRunHolds(spends, run, outcome),
  })
  return { place, server, clock, lostRuns, processor: { url, ...processor } }
}

let serial = 0

/** One write of an account of its own. */
class Attempt {
  readonly account = `auth0|${++serial}`
  readonly #world: World
  readonly #write: Write
  readonly #paidBefore: number

  constructor(world: World, write: Write) {
    this.#world = world
    this.#write = write
    this.#paidBefore = world.processor.payments.length
  }

  /** Sends it, always with the same key. */
  send = (): Promise<HttpResponse> => this.#post(this.#write.path, this.#write.cents, 'the-same-key')

  /** What the processor paid for it. */
  get payments() {
    return this.#world.processor.payments.slice(this.#paidBefore)
  }

  /** Asks for more than any cap allows. The denial says what remains. */
  sendTooMuch = (): Promise<HttpResponse> => this.#post('/payments', CAP + 1, 'another-key')

  async #post(path: string, amountCents: number, idempotencyKey: string): Promise<HttpResponse> {
    const { clock, server } = this.#world
    const iat = Math.floor(clock.now() / 1000)
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: this.account, azp: 'shop', iat, exp: iat + 900 }
    const token = await sign(key, { ...claims, scope: 'payments.write' }, { typ: 'JWT' })
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': idempotencyKey }
    return server.send(path, { headers, body: { amountCents } })
  }
}

/** Sends a write again after a kill, past the lease of the dead server if it has one. Returns what its client gets. */
async function sendAgain({ clock }: World, attempt: Attempt): Promise<HttpResponse> {
  const response = await attempt.send()
  if (response.body['error'] !== 'request_in_progress') return response
  clock.advance(LEASE_MS)
  return attempt.send()
}

/** Decides about the lost run as the documentation says: asks the processor for the effect. */
async function decide({ lostRuns, processor }: World, effectId: string): Promise<void> {
  const [run, ...others] = (await lostRuns.list()).runs
  if (!run || run.effectId !== effectId || others.length > 0) throw new Error(`no run ${effectId}`)
  const note = { by: 'Ana', reason: 'the processor said so' }
  const response = await responseOf(processor.url, effectId)
  await (response ? lostRuns.resolve(run.id, { response, ...note }) : lostRuns.release(run.id, note))
}

/** Checks what a killed server has left behind of a write, and lets somebody decide about it. Returns what its client gets in the end. */
async function decided(t: Test, world: World, attempt: Attempt, title: string) {
  const first = await sendAgain(world, attempt)
  const replayed = first.headers.get('idempotency-replayed') === 'true'
  const { used, held } = await world.place.countersOf(attempt.account)
  if (first.status !== 503)
    return {
      response: first,
      ending: replayed ? (held > 0 ? REPLAYED[1] : REPLAYED[0]) : 'runs again',
    } as const
  t.match(first.body, { error: 'outcome_unknown', operationId: /^[\w-]{43}$/ }, title)
  t.match(await attempt.send(), { status: 503, body: first.body }, `${title}: it stays unknown`)
  const paid = sum(attempt.payments)
  t.ok(paid <= held && held === used, `${title}: what was paid is held`)
  await decide(world, String(first.body['operationId']))
  const kept = held > 0 ? 'held' : 'nothing is held'
  return {
    response: await attempt.send(),
    ending: `is unknown: ${paid > 0 ? 'held and paid' : kept}`,
  } as const
}

/** Checks that a killed write pays once, or not at all if it is declined, and that the counters agree. Returns how it ended. */
async function checkWrite(
  t: Test,
  world: World,
  attempt: Attempt,
  write: Write,
  title: string,
): Promise<Ending> {
  const { cents, paidCents, status } = write
  const { response, ending } = await decided(t, world, attempt, title)
  const where = `${title}, ${ending}`
  t.equal(response.status, status, `${where}: the response`)
  if (status === 201) {
    t.equal(response.body['id'], attempt.payments[0]?.effectId, `${where}: the response names the effect`)
    const { headers, body } = await attempt.send()
    t.same([headers.get('idempotency-replayed'), body], ['true', response.body], `${where}: it stays`)
  }
  t.equal(attempt.payments.length, paidCents > 0 ? 1 : 0, `${where}: the number of payments`)
  t.equal(sum(attempt.payments), paidCents, `${where}: what was paid`)
  const { used, held } = await world.place.countersOf(attempt.account)
  // Where the hold was settled by nobody, or by an operator, it counts in full.
  const counted =
    ending === 'is replayed' || ending === 'runs again' ? [paidCents] : [paidCents, paidCents && cents]
  t.ok(counted.includes(used), `${where}: ${used} are counted`)
  t.ok(held === 0 || (held === used && paidCents > 0), `${where}: ${held} are held`)
  const blocked = await attempt.sendTooMuch()
  t.match(blocked, { status: 403, body: { remaining: CAP - used } }, `${where}: the cap`)
  return ending
}

/**
 * Where else to kill besides before each statement: after the last one, and while the statements of a payment are on their way to Postgres.
 * On SQLite the server is the database.
 */
function further(store: StoreName, write: Write, statements: readonly string[]): readonly Kill[] {
  const last: Kill = { moment: 'after', at: statements.length }
  if (store === 'sqlite' || write !== WRITES['a payment']) return [last]
  return [...statements.map((_, index) => ({ moment: 'during', at: index + 1 }) as const), last]
}

/** Kills servers at all places of a write. Returns how the kills ended. */
async function killEverywhere(
  t: Test,
  world: World,
  store: StoreName,
  name: keyof typeof WRITES,
): Promise<Set<Ending>> {
  const write = WRITES[name]
  const endings = new Set<Ending>()
  let deaths = 0
  const kill = async (at: Kill): Promise<readonly string[] | undefined> => {
    const attempt = new Attempt(world, write)
    const { died, statements } = await world.server.killing(at, attempt.send)
    if (died) await world.server.restart()
    const ending = await checkWrite(t, world, attempt, write, `${name}, killed ${at.moment} ${at.at}`)
    if (!died) return statements
    deaths += 1
    endings.add(ending)
    return undefined
  }
  let lived: readonly string[] | undefined
  for (let at = 1; !lived; at += 1) lived = await kill({ moment: 'before', at })
  for (const each of further(store, write, lived))
    t.notOk(await kill(each), `${name}: it died ${each.moment} ${each.at}`)
  t.comment(`measured ${store}, ${name}: ${deaths} kills over ${lived.length} statements`)
  return endings
}

t.setTimeout(1_800_000)
// The two databases are independent.
t.jobs = 2

/**
 * What is killed where. Each kill costs the start of a server, so that not every write is killed on both databases, and two of
 * these take their turn in a run: one on each database, one with each decider.
 */
const KILLED: readonly (readonly [StoreName, Decider, readonly (keyof typeof WRITES)[]])[] = [
  ['postgres', 'operator', ['a payment', 'a payment of which half is settled', 'a payment that is declined']],
  ['sqlite', 'recover', ['a payment']],
  ['sqlite', 'operator', ['a payment', 'a payment that is declined']],
  ['postgres', 'recover', ['a payment', 'a payment that is declined']],
]

for (const [store, decider, names] of turnOf(KILLED, 2)) {
  const title = `a killed server pays once and counts what it paid, on ${store}, where lost runs are decided by ${decider}`
  void t.test(title, { buffered: true }, async t => {
    const world = await startWorld(t, store, decider)
    for (const name of names) {
      const endings = await killEverywhere(t, world, store, name)
      const expected = (WRITES[name] as Write).endings[decider] ?? []
      t.same([...endings].toSorted(), expected.toSorted(), `${name}: every ending was seen`)
    }
  })
}
