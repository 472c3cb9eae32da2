import type { HttpResponse } from '../../../harness/host.ts'
import type { WirePayin } from '../../harness/money.ts'

/** What a client knows of one of its pay-ins. */
export interface KnownPayin {
  readonly id: string
  readonly amountCents: number
  readonly plan: string | null
  readonly subscriptionId: string | null
  readonly units: bigint
  /** A host responded that the balance paid it. */
  balancePaid: boolean
  /** The exact transfer for it is in the chain. */
  transfer: string | undefined
  /** A host accepted a transaction for it. */
  named: boolean
}

/** The expected state of an account, from what its client did and received. */
export interface Model {
  readonly capCents: number
  readonly payins: Map<string, KnownPayin>
  readonly subscriptions: Set<string>
  /** The sum of all deposits. */
  deposited: number
  /** The sum of the pay-ins that hosts allowed. */
  used: number
  /** The remaining amounts of the cap in denials, each with its least and greatest possible value. */
  readonly blocked: { readonly remaining: number; readonly most: number }[]
  /** Each pay-in as responses showed it. */
  readonly received: WirePayin[]
  readonly wrong: string[]
}

/** The model of a new account. */
export function newModel(capCents: number): Model {
  return {
    capCents,
    payins: new Map(),
    subscriptions: new Set(),
    deposited: 0,
    used: 0,
    blocked: [],
    received: [],
    wrong: [],
  }
}

/** Records the response to a request for a pay-in that was sent when `used` was `before`. */
export function noteMade(
  model: Model,
  before: number,
  amountCents: number,
  { status, body }: HttpResponse,
): void {
  if (status === 403 && body['error'] === 'policy_blocked') {
    const remaining = body['remaining'] as number
    if (remaining >= amountCents) model.wrong.push(`blocked ${amountCents} with ${remaining} left`)
    model.blocked.push({ remaining, most: model.capCents - before })
    return
  }
  if (status !== 200) return void model.wrong.push(`making a pay-in: ${status} ${JSON.stringify(body)}`)
  const payin = body.data['payin'] as WirePayin
  const { id, plan, subscriptionId } = payin
  if (payin.amountCents !== amountCents || payin.status !== 'awaiting_payment' || model.payins.has(id)) {
    model.wrong.push(`made for ${amountCents}: ${JSON.stringify(payin)}`)
  }
  const units = BigInt(payin.payTo?.units as string)
  const known = { id, amountCents, plan, subscriptionId, units }
  model.payins.set(id, { ...known, balancePaid: false, transfer: undefined, named: false })
  model.received.push(payin)
  model.used += amountCents
  if (subscriptionId !== null) model.subscriptions.add(subscriptionId)
}

/** Records the response to a payment from the balance. */
export function noteBalancePaid(model: Model, known: KnownPayin, { status, body }: HttpResponse): void {
  if (status === 400) return
  const payin = body.data?.['payin'] as WirePayin | undefined
  if (status !== 200 || payin?.status !== 'settled') {
    return void model.wrong.push(`paying from the balance: ${status} ${JSON.stringify(body)}`)
  }
  model.received.push(payin)
  if (payin.method === 'balance') known.balancePaid = true
  else if (known.transfer === undefined) model.wrong.push(`${known.id} is settled, and nobody paid it`)
}

/** Records the response to a submitted transaction. */
export function noteNamed(model: Model, known: KnownPayin, { status, body }: HttpResponse): void {
  if (status !== 200) return void model.wrong.push(`naming: ${status} ${JSON.stringify(body)}`)
  model.received.push(body.data['payin'] as WirePayin)
  known.named = true
}

/** The status that a pay-in must have once every watcher has caught up. */
function endOf(known: KnownPayin): { readonly status: string; readonly method: string } {
  if (known.balancePaid) return { status: 'settled', method: 'balance' }
  if (known.transfer !== undefined) return { status: 'settled', method: 'onchain' }
  return { status: known.named ? 'confirming' : 'awaiting_payment', method: 'onchain' }
}

/** The balance that the account must have at the end. */
export function balanceOf({ deposited, payins }: Model): number {
  let balance = deposited
  for (const known of payins.values()) {
    if (known.balancePaid) balance -= known.amountCents
    else if (known.plan === null && known.transfer !== undefined) balance += known.amountCents
  }
  return balance
}

/** The differences between the model and what a client reads at the end. */
export function differences(
  model: Model,
  found: {
    readonly payins: readonly WirePayin[]
    readonly subscriptions: readonly { readonly id: string; readonly status: string }[]
    readonly balance: number
    readonly remaining: number
  },
): readonly string[] {
  const wrong = [...model.wrong]
  const expect = (what: string, is: unknown, must: unknown): void => {
    if (JSON.stringify(is) !== JSON.stringify(must)) {
      wrong.push(`${what}: is ${JSON.stringify(is)}, must be ${JSON.stringify(must)}`)
    }
  }
  const byId = new Map(found.payins.map(payin => [payin.id, payin]))
  expect('pay-ins', [...byId.keys()].toSorted(), [...model.payins.keys()].toSorted())
  for (const [id, known] of model.payins) {
    const { status, method } = byId.get(id) ?? {}
    expect(`pay-in ${id}`, { status, method }, endOf(known))
  }
  for (const received of model.received) {
    const now = byId.get(received.id)
    const same = now?.amountCents === received.amountCents && now.subscriptionId === received.subscriptionId
    const stays =
      received.status !== 'settled' || (now?.status === 'settled' && now.method === received.method)
    const begun = received.status === 'awaiting_payment' || now?.status !== 'awaiting_payment'
    if (!same || !stays || !begun)
      wrong.push(`received ${JSON.stringify(received)}, found ${JSON.stringify(now)}`)
  }
  const paid = [...model.payins.values()].filter(known => endOf(known).status === 'settled')
  const active = [...new Set(paid.flatMap(({ subscriptionId }) => subscriptionId ?? []))]
  const ids = found.subscriptions.map(({ id }) => id)
  expect('subscriptions', ids.toSorted(), [...model.subscriptions].toSorted())
  const isActive = found.subscriptions.filter(({ status }) => status === 'active').map(({ id }) => id)
  expect('active subscriptions', isActive.toSorted(), active.toSorted())
  expect('balance', found.balance, balanceOf(model))
  expect('left under the cap', found.remaining, model.capCents - model.used)
  for (const { remaining, most } of model.blocked) {
    if (remaining > most || remaining < found.remaining) {
      wrong.push(`${remaining} was left, between ${found.remaining} and ${most}`)
    }
  }
  return wrong
}
