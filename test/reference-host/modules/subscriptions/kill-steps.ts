import { randomUUID } from 'node:crypto'
import type { ManualClock } from '@gatewright/kernel/testing'
import { mine } from '../../../harness/chain/evm.ts'
import type { HttpResponse } from '../../../harness/host.ts'
import { payinOf, type WirePayin } from '../../harness/money.ts'
import type { ChainUser, PayinChain } from '../../harness/paid-host.ts'
import type { KillableHost } from './killable-host.ts'

/** What a step needs. */
export interface StepContext {
  readonly host: KillableHost
  readonly clock: ManualClock
  readonly chain: PayinChain & { readonly url: string; readonly chainId: number }
  user: ChainUser
}

/** A write or a background job during which a host is killed, and the effect that it must have exactly once. */
export interface Attempt {
  act(): Promise<HttpResponse | void>
  /** Continues after a kill: the same request again, or the next run of the job. */
  again(): Promise<HttpResponse | void>
  /** The pay-in that existed before. */
  readonly payin?: WirePayin
  readonly status: string
  /** The cause of the pay-in's last move. */
  readonly cause: string
  /** The change of the account over the whole step, including the creation of the pay-in before the attempt. */
  readonly change: {
    readonly balanceCents: number
    /** How much of the account's spend cap is used. */
    readonly capUsedCents: number
    readonly subscriptions: number
  }
  /** Whether the watcher settles the pay-in between this attempt and the next one of the step. */
  readonly settlesLater?: boolean
}

/** Longer than a host's lease of a chain: three polls of 100 s. */
const PAST_LEASE_MS = 301_000
/** More blocks than the watcher reads twice. */
const PAST_RANGE_BLOCKS = 30
const nothing = { balanceCents: 0, capUsedCents: 0, subscriptions: 0 }
const bought = { balanceCents: 0, capUsedCents: 500, subscriptions: 1 }
let amount = 1000

/** A request that is repeated under one idempotency key until it gets a response. */
function write({ user }: StepContext, path: string, body: object): Pick<Attempt, 'act' | 'again'> {
  const key = randomUUID()
  const act = (): Promise<HttpResponse> => user.write(path, body, key)
  return { act, again: act }
}

async function checkout({ user }: StepContext, extra: object = {}): Promise<WirePayin> {
  return payinOf(await user.write('/subscriptions/checkout', { plan: 'basic', ...extra }))
}

const unitsOf = ({ payTo }: WirePayin): bigint => BigInt(payTo?.units as string)

/** A round of the watcher, after the lease of the previous host has ended. */
async function watch({ host, clock, chain }: StepContext): Promise<void> {
  clock.advance(PAST_LEASE_MS)
  await host.chore(`watch chain ${chain.chainId}`)
}

/**
 * Makes a pay-in and pays it: the payment has `blocks` confirmations, and the watcher has not read it yet. Before that,
 * mines so many blocks that the watcher does not read earlier payments again.
 */
async function paidUnread(context: StepContext, blocks: number): Promise<WirePayin> {
  const { user, chain } = context
  await mine(chain.url, PAST_RANGE_BLOCKS)
  await watch(context)
  amount += 1
  const payin = payinOf(await user.write('/subscriptions/payin', { amountCents: amount }))
  await chain.pay(user.account, chain.receiver, unitsOf(payin))
  if (blocks > 1) await mine(chain.url, blocks - 1)
  return payin
}

/** For each operation that changes a pay-in: prepares an attempt of it. */
export const STEPS: Readonly<Record<string, (context: StepContext) => Promise<Attempt>>> = {
  async 'create a pay-in'(context) {
    const request = write(context, '/subscriptions/payin', { amountCents: 700, asset: 'EURC', note: 'n' })
    const change = { ...nothing, capUsedCents: 700 }
    return { ...request, status: 'awaiting_payment', cause: 'created', change }
  },
  async checkout(context) {
    const request = write(context, '/subscriptions/checkout', { plan: 'basic' })
    return { ...request, status: 'awaiting_payment', cause: 'created', change: bought }
  },
  async 'confirm on the chain'(context) {
    const { user, chain } = context
    const payin = await checkout(context)
    const txHash = await chain.pay(user.account, chain.receiver, unitsOf(payin))
    await mine(chain.url)
    const request = write(context, '/subscriptions/payin/confirm', { payinId: payin.id, txHash })
    return { ...request, payin, status: 'settled', cause: 'paid_on_chain', change: bought }
  },
  async 'settle from the balance'(context) {
    await context.user.fund(500)
    const payin = await checkout(context)
    const request = write(context, '/subscriptions/payin/confirm-balance', { payinId: payin.id })
    return { ...request, payin, status: 'settled', cause: 'paid_from_balance', change: bought }
  },
  async 'see a payment that is not deep enough'(context) {
    const payin = await paidUnread(context, 1)
    const round = (): Promise<void> => watch(context)
    const change = { ...nothing, capUsedCents: payin.amountCents }
    return {
      act: round,
      again: round,
      payin,
      status: 'confirming',
      cause: 'seen',
      change,
      settlesLater: true,
    }
  },
  async 'settle by the watcher'(context) {
    const payin = await paidUnread(context, 2)
    const round = (): Promise<void> => watch(context)
    const change = { balanceCents: payin.amountCents, capUsedCents: payin.amountCents, subscriptions: 0 }
    return { act: round, again: round, payin, status: 'settled', cause: 'paid_on_chain', change }
  },
  async expire(context) {
    const { host, clock } = context
    const payin = await checkout(context, { method: 'balance' })
    const deadline = Date.parse(payin.expiresAt)
    // Nothing expires 1 ms before the deadline. The user's session ended while the clock moved.
    clock.set(deadline - 1)
    await host.chore('expire pay-ins')
    context.user = await context.user.renewed()
    const round = async (): Promise<void> => {
      clock.set(deadline)
      await host.chore('expire pay-ins')
    }
    // Expiry gives the cap back. The subscription stays, with the status `incomplete`: it can be paid by a new pay-in.
    const change = { ...nothing, subscriptions: 1 }
    return { act: round, again: round, payin, status: 'expired', cause: 'deadline_passed', change }
  },
}
