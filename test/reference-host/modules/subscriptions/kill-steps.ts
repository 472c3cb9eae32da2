import { randomUUID } from 'node:crypto'
import type { ManualClock } from '@gatewright/kernel/testing'
import { mine } from '../../../harness/evm.ts'
import type { Answer } from '../../../harness/host.ts'
import { payinOf, type WirePayin } from '../../../harness/money.ts'
import type { ChainUser, PayinChain } from '../../../harness/paid-host.ts'
import type { MortalHost } from './killable-host.ts'

/** What a step works with. */
export interface Bench {
  readonly host: MortalHost
  readonly clock: ManualClock
  readonly chain: PayinChain & { readonly url: string; readonly chainId: number }
  user: ChainUser
}

/** A write or a chore that is about to be killed, and what it must have done once, whoever dies. */
export interface Attempt {
  act(): Promise<Answer | void>
  /** Makes it go on after a death: the same request again, or the next round. */
  again(): Promise<Answer | void>
  /** The pay-in that there is already. */
  readonly payin?: WirePayin
  readonly status: string
  /** The last thing that happened to the pay-in. */
  readonly cause: string
  /** What it changes for the account, the making of its pay-in included. */
  readonly gained: { readonly balance: number; readonly used: number; readonly subscriptions: number }
  /** The chain goes on and settles it, before the next attempt. */
  readonly settlesLater?: boolean
}

const LEASE_MS = 301_000
const nothing = { balance: 0, used: 0, subscriptions: 0 }
const bought = { balance: 0, used: 500, subscriptions: 1 }
let amount = 1000

/** A request whose answer is repeated until there is one, under one idempotency key. */
function write({ user }: Bench, path: string, body: object): Pick<Attempt, 'act' | 'again'> {
  const key = randomUUID()
  const act = (): Promise<Answer> => user.write(path, body, key)
  return { act, again: act }
}

async function checkout({ user }: Bench, extra: object = {}): Promise<WirePayin> {
  return payinOf(await user.write('/subscriptions/checkout', { plan: 'basic', ...extra }))
}

const unitsOf = ({ payTo }: WirePayin): bigint => BigInt(payTo?.units as string)

/** A round of the watcher, after whoever had the chain before has lost it. */
async function watch({ host, clock, chain }: Bench): Promise<void> {
  clock.advance(LEASE_MS)
  await host.chore(`watch chain ${chain.chainId}`)
}

/** An open pay-in whose payment has so many blocks, where all earlier payments are out of the watcher's sight. */
async function paidUnseen(bench: Bench, blocks: number): Promise<WirePayin> {
  const { user, chain } = bench
  await mine(chain.url, 30)
  await watch(bench)
  amount += 1
  const payin = payinOf(await user.write('/subscriptions/payin', { amountCents: amount }))
  await chain.pay(user.account, chain.receiver, unitsOf(payin))
  if (blocks > 1) await mine(chain.url, blocks - 1)
  return payin
}

/** Everything that changes a pay-in. */
export const STEPS: Readonly<Record<string, (bench: Bench) => Promise<Attempt>>> = {
  async 'create a pay-in'(bench) {
    const asked = write(bench, '/subscriptions/payin', { amountCents: 700, asset: 'EURC', note: 'n' })
    const gained = { ...nothing, used: 700 }
    return { ...asked, status: 'awaiting_payment', cause: 'created', gained }
  },
  async checkout(bench) {
    const asked = write(bench, '/subscriptions/checkout', { plan: 'basic' })
    return { ...asked, status: 'awaiting_payment', cause: 'created', gained: bought }
  },
  async 'confirm on the chain'(bench) {
    const { user, chain } = bench
    const payin = await checkout(bench)
    const txHash = await chain.pay(user.account, chain.receiver, unitsOf(payin))
    await mine(chain.url)
    const asked = write(bench, '/subscriptions/payin/confirm', { payinId: payin.id, txHash })
    return { ...asked, payin, status: 'settled', cause: 'paid_on_chain', gained: bought }
  },
  async 'settle from the balance'(bench) {
    await bench.user.fund(500)
    const payin = await checkout(bench)
    const asked = write(bench, '/subscriptions/payin/confirm-balance', { payinId: payin.id })
    return { ...asked, payin, status: 'settled', cause: 'paid_from_balance', gained: bought }
  },
  async 'see a payment that is not deep enough'(bench) {
    const payin = await paidUnseen(bench, 1)
    const round = (): Promise<void> => watch(bench)
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
  async 'settle by the watcher'(bench) {
    const payin = await paidUnseen(bench, 2)
    const round = (): Promise<void> => watch(bench)
    const gained = { ...nothing, used: payin.amountCents, balance: payin.amountCents }
    return { act: round, again: round, payin, status: 'settled', cause: 'paid_on_chain', gained }
  },
  async expire(bench) {
    const { host, clock } = bench
    const payin = await checkout(bench, { method: 'balance' })
    const deadline = Date.parse(payin.expiresAt)
    clock.set(deadline - 1)
    await host.chore('expire pay-ins')
    bench.user = await bench.user.renewed()
    const round = async (): Promise<void> => {
      clock.set(deadline)
      await host.chore('expire pay-ins')
    }
    const gained = { ...nothing, subscriptions: 1 }
    return { act: round, again: round, payin, status: 'expired', cause: 'deadline_passed', gained }
  },
}
