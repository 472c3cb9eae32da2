import { randomUUID } from 'node:crypto'
import { allow, type Clock, type Verdict } from '@gatewright/kernel'
import { blocked, type Access } from './access.ts'
import { judgeAmount, wrongSpend, type Amount, type RateSource, operationsOf } from './amount.ts'
import type { SpendDenial } from './codes.ts'
import type { PlannedItem } from './policy/caps.ts'
import type { Block } from './policy/gates.ts'
import type { Settled, SpendStorage } from './storage/port.ts'
import { withinTime } from './timeout.ts'

/** The money one call moves: the server's own amount, never a number from the body where both exist. */
export interface Spend extends Amount {
  /**
   * The id of the hold, default random. Give the operation's stable id (such as `effectId`), so that a reservation
   * of unknown outcome can be repeated and a hold found again after a crash.
   */
  readonly holdId?: string
}

/** What a `reserve` held. Plain data: it may be stored with the business row and settled days later. */
export interface SpendHold {
  readonly id: string
  readonly accountId: string
  /** Held US cents, at the rate of reserve time. */
  readonly amountCents: number
  /** What was asked for, in its own currency. */
  readonly requested: { readonly amountCents: number; readonly currency: string }
  /** Whether any counter is held. False: no cap applies, and ending the hold does nothing. */
  readonly held: boolean
}

/** What spending needs. */
export interface SpendOptions {
  readonly storage: SpendStorage | undefined
  readonly rates: RateSource
  readonly clock: Clock
  readonly timeoutMs: number
}

/** A spend that was judged as far as that goes without a store. */
interface Judged {
  readonly cents: number
  readonly planned: readonly PlannedItem[]
}

/** What a full counter says: what remains under its cap, and when it starts anew. */
function overBlock({ item, rule, policyId, window }: PlannedItem, used: number): Block {
  const { unit, cap, expiresAt } = item
  const resetsAt = expiresAt === null ? null : new Date(expiresAt).toISOString()
  return { rule, policyId, window, unit, remaining: Math.max(0, cap - used), resetsAt }
}

async function judge(access: Access, spend: Spend, options: SpendOptions): Promise<Judged | SpendDenial> {
  const { rule, chain } = access
  if (rule.spends === undefined)
    throw new TypeError(`rule of "${rule.operation}" does not say that it spends`)
  if (spend.holdId === '') throw new TypeError('holdId must not be empty')
  const wrong = wrongSpend(spend)
  if (wrong) return wrong
  const plan = chain.caps(operationsOf(rule, spend), rule.spends)
  if (plan.uncountable && !options.storage) return blocked(plan.uncountable)
  const cents = await judgeAmount(plan, spend, options.rates)
  if (typeof cents !== 'number') return cents
  return { cents, planned: plan.items(cents, options.clock.now()) }
}

const isDenial = (judged: Judged | Block | SpendDenial): judged is SpendDenial => 'ok' in judged
const isBlock = (judged: Judged | Block): judged is Block => 'rule' in judged

/** Reserves under every cap of the session's chain, or none. See `Guard.reserve`. */
export async function reserveSpend(
  access: Access,
  spend: Spend,
  options: SpendOptions,
): Promise<Verdict<SpendHold, SpendDenial>> {
  const { evidence } = access
  const judged = await judge(access, spend, options)
  if (isDenial(judged)) return { ...judged, evidence }
  const { cents, planned } = judged
  const { accountId } = access.session
  const { amountCents, currency, holdId = randomUUID() } = spend
  const held = planned.length > 0
  if (held) {
    const storage = options.storage as SpendStorage
    const items = planned.map(({ item }) => item)
    const reserved = await withinTime('spend store', options.timeoutMs, () =>
      storage.reserve(accountId, holdId, items, options.clock.now()),
    )
    if (reserved.outcome === 'conflict') throw new TypeError('the hold id is in use with other amounts')
    if (reserved.outcome === 'over') {
      return { ...blocked(overBlock(planned[reserved.index] as PlannedItem, reserved.used)), evidence }
    }
  }
  return allow({ id: holdId, accountId, amountCents: cents, requested: { amountCents, currency }, held })
}

/** Says what `reserveSpend`, or without an amount `countCall`, would decide, and changes nothing. */
export async function simulateSpend(
  access: Access,
  spend: Spend | undefined,
  options: SpendOptions,
): Promise<Verdict<undefined, SpendDenial>> {
  const judged = spend ? await judge(access, spend, options) : judgeCall(access, options)
  if (isDenial(judged)) return judged
  if (isBlock(judged)) return blocked(judged)
  const { planned } = judged
  if (planned.length === 0) return allow(undefined)
  const counters = planned.map(({ item }) => item.counter)
  const storage = options.storage as SpendStorage
  const used = await withinTime('spend store', options.timeoutMs, () =>
    storage.used(access.session.accountId, counters),
  )
  const index = planned.findIndex(({ item }, n) => (used[n] as number) + item.amount > item.cap)
  return index < 0
    ? allow(undefined)
    : blocked(overBlock(planned[index] as PlannedItem, used[index] as number))
}

/** A call that moves no money counts against `maxCount` limits only; one that does, counts when it reserves. */
function judgeCall({ rule, chain }: Access, { storage, clock }: SpendOptions): Judged | Block {
  if (rule.spends !== undefined) return { cents: 0, planned: [] }
  const plan = chain.caps([rule.operation], undefined)
  if (plan.uncountable && !storage) return plan.uncountable
  return { cents: 0, planned: plan.counted ? plan.items(0, clock.now()) : [] }
}

/** Counts a call of an operation that moves no money against the chain's `maxCount` limits, at once. */
export async function countCall(access: Access, options: SpendOptions): Promise<Block | undefined> {
  const judged = judgeCall(access, options)
  if (isBlock(judged)) return judged
  const { planned } = judged
  if (planned.length === 0) return undefined
  const items = planned.map(({ item }) => item)
  const storage = options.storage as SpendStorage
  const reserved = await withinTime('spend store', options.timeoutMs, () =>
    storage.reserve(access.session.accountId, null, items, options.clock.now()),
  )
  return reserved.outcome === 'over'
    ? overBlock(planned[reserved.index] as PlannedItem, reserved.used)
    : undefined
}

/** Ends a hold with what was really spent, in the currency asked for; by default all of it. */
export async function settleSpend(
  hold: SpendHold,
  options: SpendOptions,
  actual: number = hold.requested.amountCents,
): Promise<Settled> {
  if (!hold.held) return 'settled'
  const storage = storageOf(options)
  if (!Number.isSafeInteger(actual) || actual < 0) {
    throw new TypeError('the actual amount must be a safe integer of at least 0')
  }
  const { amountCents: asked } = hold.requested
  if (actual > asked) return 'exceeds'
  const cents = share(hold.amountCents, actual, asked)
  return withinTime('spend store', options.timeoutMs, () => storage.settle(hold.accountId, hold.id, cents))
}

/** Ends a hold and gives everything back. See `Guard.release`. */
export async function releaseSpend(hold: SpendHold, options: SpendOptions): Promise<boolean> {
  if (!hold.held) return true
  const storage = storageOf(options)
  return withinTime('spend store', options.timeoutMs, () => storage.release(hold.accountId, hold.id))
}

function storageOf({ storage }: SpendOptions): SpendStorage {
  if (!storage) throw new TypeError('a hold is ended in the store that it was reserved in: give spend')
  return storage
}

/** `held * actual / asked`, rounded up, without leaving the integers. */
function share(held: number, actual: number, asked: number): number {
  if (asked === 0) return 0
  const [h, a, of] = [BigInt(held), BigInt(actual), BigInt(asked)]
  return Number((h * a + of - 1n) / of)
}
