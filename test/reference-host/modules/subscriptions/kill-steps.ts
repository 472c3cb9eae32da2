import { randomUUID } from 'node:crypto'
import type { ManualClock } from '@gatewright/kernel/testing'
import { mine } from '../../../harness/evm.ts'
import type { HttpResponse } from '../../../harness/host.ts'
import { payinOf, type WirePayin } from '../../../harness/money.ts'
import type { ChainUser, PayinChain } from '../../../harness/paid-host.ts'
import type { KillableHost } from './killable-host.ts'

/** What a step needs. */
export interface StepContext {
  readonly host: KillableHost
  readonly clock: ManualClock
  readonly chain: PayinChain & { readonly url: string; readonly chainId: number }
  user: ChainUser
}

/** A write or a chore during which a host is killed, and the effect that it must have exactly once. */
export interface Attempt {
  act(): Promise<HttpResponse | void>
  /** Continues after a kill: the same request again, or the next round. */
  again(): Promise<HttpResponse | void>
  /** The pay-in that existed before. */
  readonly payin?: WirePayin
  readonly status: string
  /** The cause of the pay-in's last move. */
  readonly cause: string
  /** What it changes for the account, the creation of its pay-in included. */
  readonly gained: { readonly balance: number; readonly used: number; readonly subscriptions: number }
  /** The pay-in settles from the chain before the next attempt. */
  readonly settlesLater?: boolean
}

const LEASE_MS = 301_000
const nothing = { balance: 0, used: 0, subscriptions: 0 }
const bought = { balance: 0, used: 500, subscriptions: 1 }
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
  clock.advance(LEASE_MS)
  await host.chore(`watch chain ${chain.chainId}`)
}

/**
 * An open pay-in whose payment has this many blocks and has not been seen; all earlier payments are out of
 * the watcher's range.
 */
async function paidUnseen(context: StepContext, blocks: number): Promise<WirePayin> {
  const { user, chain } = context
  await mine(chain.url, 30)
  await watch(context)
  amount += 1
  const payin = payinOf(await user.write('/subscriptions/payin', { amountCents: amount }))
  await chain.pay(user.account, chain.receiver, unitsOf(payin))
  if (blocks > 1) await mine(chain.url, blocks - 1)
  return payin
}

/** Everything that changes a pay-in. */
export const STEPS: Readonly<Record<string, (context: StepContext) => Promise<Attempt>>> = {
  async 'create a pay-in'(context) {
    const asked = write(context, '/subscriptions/payin', { amountCents: 700, asset: 'EURC', note: 'n' })
    const gained = { ...nothing, used: 700 }
    return { ...asked, status: 'awaiting_payment', cause: 'created', gained }
  },
  async checkout(context) {
    const asked = write(context, '/subscriptions/checkout', { plan: 'basic' })
    return { ...asked, status: 'awaiting_payment', cause: 'created', gained: bought }
  },
  async 'confirm on the chain'(context) {
    const { user, chain } = context
    const payin = await checkout(context)
    const txHash = await chain.pay(user.account, chain.receiver, unitsOf(payin))
    await mine(chain.url)
    const asked = write(context, '/subscriptions/payin/confirm', { payinId: payin.id, txHash })
    return { ...asked, payin, status: 'settled', cause: 'paid_on_chain', gained: bought }
  },
  async 'settle from the balance'(context) {
    await context.user.fund(500)
    const payin = await checkout(context)
    const asked = write(context, '/subscriptions/payin/confirm-balance', { payinId: payin.id })
    return { ...asked, payin, status: 'settled', cause: 'paid_from_balance', gained: bought }
  },
  async 'see a payment that is not deep enough'(context) {
    const payin = await paidUnseen(context, 1)
    const round = (): Promise<void> => watch(context)
    const gained = { ...nothing, used: payin.amountCents }
    return {
      act: round,
      again: round,
      payin,
      status: 'confirming',
      cause: 'seen',
      gained,
      settlesLater: true,
    }
  },
  async 'settle by the watcher'(context) {
    const payin = await paidUnseen(context, 2)
    const round = (): Promise<void> => watch(context)
    const gained = { ...nothing, used: payin.amountCents, balance: payin.amountCents }
    return { act: round, again: round, payin, status: 'settled', cause: 'paid_on_chain', gained }
  },
  async expire(context) {
    const { host, clock } = context
    const payin = await checkout(context, { method: 'balance' })
    const deadline = Date.parse(payin.expiresAt)
    clock.set(deadline - 1)
    await host.chore('expire pay-ins')
    context.user = await context.user.renewed()
    const round = async (): Promise<void> => {
      clock.set(deadline)
      await host.chore('expire pay-ins')
    }
    const gained = { ...nothing, subscriptions: 1 }
    return { act: round, again: round, payin, status: 'expired', cause: 'deadline_passed', gained }
  },
}
