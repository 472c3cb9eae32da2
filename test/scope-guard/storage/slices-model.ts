// Hosts that reserve under shared caps with slices, crash, freeze and wake, in any order, on a real Postgres; and what must hold after each
// step. One of the hosts has no slices.
import { randomUUID } from 'node:crypto'
import { Fault, keyDigest } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SpendItem, SpendStorage } from '@gatewright/scope-guard'
import { postgresSpends } from '@gatewright/scope-guard/postgres'
import fc from 'fast-check'

const HOSTS = 3
const DAY = 86_400_000
const START = 1_767_225_600_000
const LEASE_SECONDS = 10
/** Caps by counter. Only the last is counted without slices. */
const CAPS = { total: 2000, day: 1000, small: 60 } as const
const LEAST_CAP = 100
type Name = keyof typeof CAPS

/** What happens next. Indexes are taken modulo what there is. */
export type Step =
  | {
      readonly kind: 'reserve'
      readonly host: number
      readonly amounts: readonly number[]
      readonly names: readonly Name[]
      readonly capPercent: number
    }
  | {
      readonly kind: 'end'
      readonly host: number
      readonly hold: number
      readonly percent: number | undefined
    }
  | { readonly kind: 'repeat'; readonly host: number; readonly hold: number }
  | { readonly kind: 'count'; readonly host: number }
  /** The next statement of the host is lost before or after it runs, or waits until the host wakes. */
  | { readonly kind: 'disturb'; readonly host: number; readonly how: 'before' | 'after' | 'frozen' }
  | { readonly kind: 'wake'; readonly host: number }
  | { readonly kind: 'crash'; readonly host: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'nextDay' }
  | { readonly kind: 'collect' }

const host = fc.nat(HOSTS - 1)
const amount = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 100, max: 900 }))
const names = fc.constantFrom<readonly Name[]>(
  ['day'],
  ['total'],
  ['day', 'total'],
  ['day', 'small', 'total'],
)
const reserve = fc.record({
  kind: fc.constant('reserve'),
  host,
  amounts: fc.array(amount, { minLength: 1, maxLength: 4 }),
  names,
  capPercent: fc.constantFrom(100, 100, 100, 50),
} as const)

/** Any next step. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: reserve },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      host,
      hold: fc.nat(),
      percent: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), host, hold: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('count' as const), host }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('disturb' as const),
      host,
      how: fc.constantFrom('before' as const, 'after' as const, 'frozen' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wake' as const), host }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), host }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(15_000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'nextDay' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'collect' as const }) },
)

/** One host: its storage, what happens to its next statement, and a statement that waits until it wakes. */
interface Host {
  readonly storage: SpendStorage
  readonly hasSlices: boolean
  disturbance: 'before' | 'after' | 'frozen' | undefined
  wake: (() => void) | undefined
  late: Promise<unknown> | undefined
}

interface Hold {
  readonly id: string
  readonly items: readonly SpendItem[]
}

function openHost(db: SqlClient, index: number): Host {
  const query: SqlClient['query'] = async (text, values) => {
    const how = host.disturbance
    host.disturbance = undefined
    if (how === 'before') throw new Error('connection cut')
    if (how === 'frozen') await new Promise<void>(resolve => (host.wake = resolve))
    const reply = await db.query(text, values)
    if (how === 'after') throw new Error('connection cut')
    return reply
  }
  const hasSlices = index < HOSTS - 1
  const escrow = { leastCap: LEAST_CAP, sharePercent: 20, leaseSeconds: LEASE_SECONDS }
  const storage = postgresSpends({ ...db, query }, hasSlices ? { escrow } : {})
  const host: Host = { storage, hasSlices, disturbance: undefined, wake: undefined, late: undefined }
  return host
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new Error(message)
}

/** Ignores the fault of a lost statement: the database shows whether it ran. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error
}

/** Runs steps on an account of its own. Rejects with what did not hold. */
export async function runSteps(db: SqlClient, steps: readonly Step[]): Promise<void> {
  const account = randomUUID()
  const settled = new Map<string, number>()
  const holds = new Map<string, Hold>()
  const crashed: Host[] = []
  let now = START
  const hosts = Array.from({ length: HOSTS }, (_, index) => openHost(db, index))

  const itemOf = (name: Name, value: number, capPercent = 100): SpendItem => ({
    counter: name === 'total' ? name : `${name}@${Math.floor(now / DAY)}`,
    unit: 'cents',
    cap: (CAPS[name] * capPercent) / 100,
    amount: value,
    expiresAt: name === 'total' ? null : (Math.floor(now / DAY) + 1) * DAY,
  })
  const add = (counter: string, value: number): unknown =>
    settled.set(counter, (settled.get(counter) ?? 0) + value)
  const openAmount = (counter: string): number =>
    [...holds.values()]
      .flatMap(hold => hold.items)
      .reduce((sum, item) => sum + (item.counter === counter ? item.amount : 0), 0)
  const isStored = async (id: string): Promise<boolean> => {
    const text = 'select 1 from gw_spend_holds where account = $1 and hold = $2'
    return (await rows(db, text, [keyDigest(account), keyDigest(id)])).length > 0
  }
  const stored = async (
    counter: string,
  ): Promise<Record<'used' | 'held' | 'free' | 'spent' | 'live', number>> => {
    const text = `select c.used::int, c.held::int, coalesce(sum(s.free), 0)::int as free, coalesce(sum(s.spent), 0)::int as spent,
      coalesce(sum(s.free) filter (where s.expires_at > $3), 0)::int as live
      from gw_spend_counters c left join gw_spend_slices s on s.account = c.account and s.counter = c.counter
      where c.account = $1 and c.counter = $2 group by c.used, c.held`
    const [row] = await rows(db, text, [keyDigest(account), keyDigest(counter), now])
    return (row ?? { used: 0, held: 0, free: 0, spent: 0, live: 0 }) as Awaited<ReturnType<typeof stored>>
  }

  const reserve = async (from: Host, hold: Hold, isLate: boolean): Promise<void> => {
    const { id, items } = hold
    const outcome = await from.storage.reserve(account, id, items, now).catch(unlessLost)
    if (await isStored(id)) holds.set(id, hold)
    if (outcome?.outcome !== 'over' || isLate) return
    const { counter, amount: asked, cap } = items[outcome.index] as SpendItem
    const { used, free, live } = await stored(counter)
    const [usage] = await from.storage.usage(account, [counter])
    // A host without slices ends none. One with slices has ended those of others whose lease is over.
    const others = from.hasSlices ? live - (used - (usage?.used ?? 0)) : free
    check(
      used - free + others + asked > cap,
      `${asked} of ${counter} was denied at ${used - free}, ${others}`,
    )
  }
  const end = async (from: Host, { id, items }: Hold, percent: number | undefined): Promise<void> => {
    const least = Math.min(...items.map(item => item.amount))
    const actual = percent === undefined ? 0 : Math.floor((least * percent) / 100)
    const { storage } = from
    const ended = percent === undefined ? storage.release(account, id) : storage.settle(account, id, actual)
    await ended.catch(unlessLost)
    if ((await isStored(id)) || !holds.delete(id)) return
    for (const { counter } of items) add(counter, actual)
  }
  /** Starts work of a host, and waits for it unless its statement is frozen. */
  const run = async (from: Host, work: (isLate: boolean) => Promise<unknown>): Promise<unknown> => {
    const isLate = from.disturbance === 'frozen'
    const done = work(isLate)
    if (!isLate) return done
    from.late = done
    // The statement is sent in the turn of the call.
    return new Promise(resolve => setImmediate(resolve))
  }
  const wake = async (host: Host): Promise<void> => {
    host.wake?.()
    host.wake = undefined
    await host.late
    host.late = undefined
  }
  const doStep = async (given: Step): Promise<unknown> => {
    if (given.kind === 'wait') return (now += given.ms)
    if (given.kind === 'nextDay') return (now = (Math.floor(now / DAY) + 1) * DAY)
    if (given.kind === 'collect') return openHost(db, 0).storage.collect(100, now)
    const host = hosts[given.host] as Host
    if (given.kind === 'wake') return wake(host)
    if (given.kind === 'crash') {
      // What it had begun may still arrive.
      crashed.push(host)
      return (hosts[given.host] = openHost(db, given.host))
    }
    if (host.late) return undefined
    if (given.kind === 'disturb') return (host.disturbance = given.how)
    if (given.kind === 'reserve') {
      // Of several calls, only the first would be frozen.
      const amounts = host.disturbance === 'frozen' ? given.amounts.slice(0, 1) : given.amounts
      const made = amounts.map((value): Hold => {
        return { id: randomUUID(), items: given.names.map(name => itemOf(name, value, given.capPercent)) }
      })
      return run(host, isLate => Promise.all(made.map(hold => reserve(host, hold, isLate))))
    }
    if (given.kind === 'count') {
      if (host.disturbance) return undefined
      const item = itemOf('total', 1)
      const { outcome } = await host.storage.reserve(account, null, [item], now)
      return outcome === 'held' && add(item.counter, 1)
    }
    const hold = [...holds.values()][given.hold % Math.max(holds.size, 1)]
    if (!hold) return undefined
    if (given.kind === 'repeat') return run(host, isLate => reserve(host, hold, isLate))
    return run(host, () => end(host, hold, given.percent))
  }
  const checkCounter = async (counter: string, cap: number): Promise<void> => {
    const { used, held, free, spent } = await stored(counter)
    const open = openAmount(counter)
    const real = open + (settled.get(counter) ?? 0)
    check(real <= cap, `${counter}: ${real} of ${cap} is spent or held`)
    check(used === real + free, `${counter}: ${used} is used, not ${real} and ${free} in slices`)
    check(held === open + free + spent, `${counter}: ${held} is held, not ${open}, ${free} and ${spent}`)
  }

  for (const next of steps) {
    await doStep(next)
    for (const name of ['total', 'day', 'small'] as const)
      await checkCounter(itemOf(name, 0).counter, CAPS[name])
  }
  for (const host of [...hosts, ...crashed]) await wake(host)
  for (const hold of holds.values()) await end(openHost(db, 0), hold, 50)
  await openHost(db, 0).storage.collect(1000, now + 1000 * LEASE_SECONDS)
  for (const [counter, amount] of settled) {
    const { used, held, free, spent } = await stored(counter)
    // A counter is deleted ten minutes after its window.
    if (counter !== 'total' && used === 0) continue
    check(
      used === amount && held === 0 && free + spent === 0,
      `${counter}: ${used}, not ${amount}; ${held} held`,
    )
  }
}
