// The decisions of policies, written from docs/policies.md alone: no compilation, no counters, no merging. It reads policies member by
// member and adds up everything that happened.
import { BlockList, isIPv6 } from 'node:net'
import type { Policy } from '@gatewright/scope-guard'

/** One call as the naive interpreter sees it. */
export interface Call {
  readonly operation: string
  /** Further operations that this movement of money counts as. */
  readonly countsAs: readonly string[]
  readonly now: number
  readonly address: string | undefined
  readonly cardSecrets: boolean
  readonly kind: 'spend' | 'withdrawal' | undefined
  /** US cents, rounded up; undefined for a currency without a rate. */
  readonly cents: number | undefined
  /** Every name of who gets the money. */
  readonly payee: readonly string[]
}

/** The policies of a session by id. */
export type Chain = Readonly<Record<string, Policy>>

/** The accepted calls that were not released, with the policies of their time and the cents that they settled. */
export type History = readonly (Call & { readonly chain: Chain })[]

type Limit = NonNullable<Policy['limits']>[number]

const named = (patterns: readonly string[], operation: string): boolean =>
  patterns.some(pattern =>
    pattern.endsWith('.*') ? operation.startsWith(pattern.slice(0, -1)) : pattern === operation,
  )

const namesAny = (patterns: readonly string[], { operation, countsAs }: Call): boolean =>
  [operation, ...countsAs].some(each => named(patterns, each))

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

function inBlock(block: string, address: string): boolean {
  const [base = '', bits] = block.split('/')
  // To node:net, an IPv4 address is in `::/0`.
  if (familyOf(base) !== familyOf(address)) return false
  const list = new BlockList()
  if (bits === undefined) list.addAddress(base, familyOf(base))
  else list.addSubnet(base, Number(bits), familyOf(base))
  return list.check(address, familyOf(address))
}

/** The date that a calendar on the wall of a zone shows, such as `2026-01-30`. */
const dateAt = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at)

function mondayBefore(date: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  while (day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
  return day.toISOString().slice(0, 10)
}

const HOUR = 3_600_000
/** The length of each rolling window, and of its buckets. */
const ROLLING: Readonly<Record<string, readonly [window: number, bucket: number]>> = {
  '24h': [24 * HOUR, HOUR],
  '7d': [7 * 24 * HOUR, 6 * HOUR],
  '30d': [30 * 24 * HOUR, 24 * HOUR],
}

function sameWindow({ window, timeZone = 'UTC' }: Counted, a: number, b: number): boolean {
  const rolling = ROLLING[window]
  if (rolling) {
    const [length, bucket] = rolling
    const bucketEnds = a - (a % bucket) + bucket
    return b < bucketEnds + length
  }
  const [one, other] = [dateAt(timeZone, a), dateAt(timeZone, b)]
  if (window === 'day') return one === other
  if (window === 'week') return mondayBefore(one) === mondayBefore(other)
  return window !== 'month' || one.slice(0, 7) === other.slice(0, 7)
}

/** The window of a cap, in the zone of its policy. */
interface Counted {
  readonly window: Limit['window']
  readonly timeZone?: string | undefined
}

const sameZone = (one: Policy, other: Policy): boolean =>
  (one.timeZone ?? 'UTC') === (other.timeZone ?? 'UTC')

/** All policies that one key is given share their counters: `pol_KEY_RANDOM`. */
export const ownerOf = (id: string): string => (id.startsWith('pol_') ? id.slice(0, 20) : id)

const sameCounter = (one: Limit, other: Limit): boolean =>
  one.window === other.window &&
  (one.maxCount === undefined) === (other.maxCount === undefined) &&
  (one.approveAboveCents === undefined) === (other.approveAboveCents === undefined) &&
  [...new Set(one.operations)].sort().join() === [...new Set(other.operations)].sort().join()

const totalCents = (calls: History): number => calls.reduce((sum, { cents }) => sum + (cents ?? 0), 0)

function limitAllows(limit: Limit & Counted, call: Call, past: History): boolean {
  if (!namesAny(limit.operations, call)) return true
  const counted = past.filter(one => namesAny(limit.operations, one) && sameWindow(limit, one.now, call.now))
  if (limit.maxCount !== undefined) return counted.length + 1 <= limit.maxCount
  if (call.kind === undefined) return true
  if (call.cents === undefined) return false
  const money = limit.window === 'operation' ? [] : counted.filter(({ kind }) => kind !== undefined)
  // Nobody approves anything here, so what must be approved is denied.
  return totalCents(money) + call.cents <= ((limit.maxCents ?? limit.approveAboveCents) as number)
}

/** Whether one policy allows a call. `pastOf` returns the calls that a member of the policy has counted. */
function policyAllows(
  policy: Policy,
  call: Call,
  pastOf: (has: (other: Policy) => boolean) => History,
): boolean {
  const { address, now, operation } = call
  if (policy.denyOperations && named(policy.denyOperations, operation)) return false
  if (policy.allowOperations && !named(policy.allowOperations, operation)) return false
  if (policy.notBefore !== undefined && now < Date.parse(policy.notBefore)) return false
  if (policy.notAfter !== undefined && now >= Date.parse(policy.notAfter)) return false
  if (
    policy.allowedIps &&
    !(address !== undefined && policy.allowedIps.some(block => inBlock(block, address)))
  )
    return false
  if (policy.allowCardSecrets === false && call.cardSecrets) return false
  for (const limit of policy.limits ?? []) {
    const isCalendar = ['day', 'week', 'month'].includes(limit.window)
    const past = pastOf(
      other =>
        (other.limits ?? []).some(one => sameCounter(one, limit)) && (!isCalendar || sameZone(other, policy)),
    )
    if (!limitAllows({ ...limit, timeZone: policy.timeZone }, call, past)) return false
  }
  if (call.kind === undefined) return true
  const { payees, denyPayees } = policy
  if ((payees || denyPayees) && call.payee.length === 0) return false
  if (payees && !payees.some(name => call.payee.includes(name))) return false
  if (denyPayees?.some(name => call.payee.includes(name))) return false
  const { maxAuthAmountCents: each, dailySpendCapCents: daily, dailyWithdrawalCapCents: withdrawn } = policy
  // Nobody approves anything here, so what must be approved is denied.
  const { approveAboveCents: asks } = policy
  const ofWithdrawals = call.kind === 'withdrawal' ? withdrawn : undefined
  const { cents } = call
  if (cents === undefined) return (each ?? daily ?? ofWithdrawals ?? asks) === undefined
  const today = (past: History): History =>
    past.filter(
      one => one.kind !== undefined && sameWindow({ window: 'day', timeZone: policy.timeZone }, one.now, now),
    )
  const spent = totalCents(
    today(pastOf(other => other.dailySpendCapCents !== undefined && sameZone(other, policy))),
  )
  const withdrawals = today(
    pastOf(other => other.dailyWithdrawalCapCents !== undefined && sameZone(other, policy)),
  ).filter(({ kind }) => kind === 'withdrawal')
  if (each !== undefined && cents > each) return false
  if (asks !== undefined && cents > asks) return false
  if (daily !== undefined && spent + cents > daily) return false
  return ofWithdrawals === undefined || totalCents(withdrawals) + cents <= ofWithdrawals
}

/** An alert that a call must give: its counter, with the numbers of its cap. */
export interface NaiveAlert {
  readonly counter: string
  readonly limit: number
  readonly percent: number
  readonly used: number
}

/** Whether two instants are in one window of an alert: a rolling one has periods of its length. */
export function sameAlertWindow(counted: Counted, a: number, b: number): boolean {
  const rolling = ROLLING[counted.window]
  if (!rolling) return sameWindow(counted, a, b)
  return Math.floor(a / rolling[0]) === Math.floor(b / rolling[0])
}

/** A cap of one policy with a counter, as docs/policies.md describes it. */
interface NaiveCap extends Counted {
  readonly counter: string
  readonly limit: number
  readonly percent: number | undefined
  /** What a call adds to it; undefined if it does not count there. */
  readonly adds: (call: Call) => number | undefined
}

function capsOf(id: string, policy: Policy): NaiveCap[] {
  const { timeZone = 'UTC', dailySpendCapCents, dailyWithdrawalCapCents, limits = [] } = policy
  const daily = (rule: string, limit: number | undefined, kinds: readonly unknown[]): NaiveCap[] =>
    limit === undefined
      ? []
      : [
          {
            counter: [ownerOf(id), rule, timeZone].join(),
            limit,
            percent: policy.alertAtPercent,
            window: 'day',
            timeZone,
            adds: call => (kinds.includes(call.kind) ? call.cents : undefined),
          },
        ]
  const named = limits
    .filter(({ window, approveAboveCents }) => window !== 'operation' && approveAboveCents === undefined)
    .map((limit): NaiveCap => {
      const { maxCents, maxCount, window, alertAtPercent: percent } = limit
      const zone = ['day', 'week', 'month'].includes(window) ? timeZone : ''
      const unit = maxCents === undefined ? 'count' : 'cents'
      const adds = (call: Call): number | undefined => {
        if (!namesAny(limit.operations, call)) return undefined
        if (maxCents === undefined) return 1
        return call.kind === undefined ? undefined : call.cents
      }
      const operations = [...new Set(limit.operations)].sort()
      const counter = [ownerOf(id), 'limits', unit, window, zone, ...operations].join()
      return { counter, limit: (maxCents ?? maxCount) as number, percent, window, timeZone, adds }
    })
  return [
    ...daily('dailySpendCapCents', dailySpendCapCents, ['spend', 'withdrawal']),
    ...daily('dailyWithdrawalCapCents', dailyWithdrawalCapCents, ['withdrawal']),
    ...named,
  ]
}

/** The alerts that an allowed call gives: of each counter that it adds to, if its lowest cap has one and is used so far. */
export function naiveAlerts(chain: Chain, call: Call, history: History): (NaiveAlert & Counted)[] {
  const caps = Object.entries(chain).flatMap(([id, policy]) => capsOf(id, policy))
  return [...new Set(caps.map(({ counter }) => counter))].flatMap(counter => {
    const sharing = caps.filter(cap => cap.counter === counter)
    const limit = Math.min(...sharing.map(cap => cap.limit))
    const percents = sharing.filter(cap => cap.limit === limit).flatMap(cap => cap.percent ?? [])
    const { adds, window, timeZone } = sharing[0] as NaiveCap
    const own = adds(call)
    if (own === undefined || percents.length === 0) return []
    const percent = Math.min(...percents)
    const counted = history.filter(
      past =>
        sameWindow({ window, timeZone }, past.now, call.now) &&
        Object.entries(past.chain).some(([id, policy]) =>
          capsOf(id, policy).some(cap => cap.counter === counter),
        ),
    )
    const used = own + counted.reduce((sum, past) => sum + (adds(past) ?? 0), 0)
    if (used === 0 || used * 100 < percent * limit) return []
    return [{ counter, limit, percent, used, window, timeZone }]
  })
}

/** Whether every policy of a chain allows a call. */
export function naiveAllows(chain: Chain, call: Call, history: History): boolean {
  return Object.entries(chain).every(([id, policy]) =>
    policyAllows(policy, call, has =>
      history.filter(one =>
        Object.entries(one.chain).some(([other, its]) => ownerOf(other) === ownerOf(id) && has(its)),
      ),
    ),
  )
}
