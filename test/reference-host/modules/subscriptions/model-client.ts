import { randomBytes, randomUUID } from 'node:crypto'
import { mine } from '../../../harness/chain/evm.ts'
import type { HttpResponse } from '../../../harness/host.ts'
import type { ChainUser } from '../../harness/paid-host.ts'
import type { Random } from '../../harness/random.ts'
import { balanceOf, noteBalancePaid, noteMade, noteNamed, type KnownPayin, type Model } from './model.ts'

/** A client in the model. */
export interface Client {
  readonly user: ChainUser
  readonly model: Model
  /** It sends one request at a time, so that the model knows each response. */
  readonly alone: boolean
  /** Unused plans, each with a different price, so that a transfer identifies its pay-in. */
  readonly plans: { readonly id: string; readonly amountCents: number }[]
  readonly responses: {
    readonly path: string
    readonly body: object
    readonly key: string
    readonly data: unknown
  }[]
  nextAmount: number
  pay(units: bigint): Promise<string>
  /** The URL of the chain's node. */
  readonly url: string
}

/** A write, sometimes sent to two hosts at once: under one key both give the same response. */
async function write(client: Client, random: Random, path: string, body: object): Promise<HttpResponse> {
  const { user, model, responses } = client
  const key = randomUUID()
  const copies = random.next() < 0.15 ? 2 : 1
  const all = await Promise.all(Array.from({ length: copies }, () => user.write(path, body, key)))
  const passed = all.filter(({ status }) => status === 200)
  const results = new Set(passed.map(response => JSON.stringify(response.body.data)))
  if (results.size > 1) model.wrong.push(`one key got ${[...results].join(' and ')}`)
  const [first = all[0] as HttpResponse] = passed
  if (first.status === 200) responses.push({ path, body, key, data: first.body.data })
  return first
}

async function make(
  client: Client,
  random: Random,
  price: number,
  path: string,
  body: object,
): Promise<void> {
  const { model, alone } = client
  const before = model.used
  const response = await write(client, random, path, body)
  const fits = before + price <= model.capCents
  if (alone && fits !== (response.status === 200))
    model.wrong.push(`${price} on ${before}: ${response.status}`)
  noteMade(model, before, price, response)
}

/** A pay-in that a client may still want to pay. */
function open(
  { model }: Client,
  random: Random,
  wanted: (known: KnownPayin) => boolean,
): KnownPayin | undefined {
  return random.of([...model.payins.values()].filter(wanted))
}

/** Returns `idle` when there is nothing to act on. */
type Act = (client: Client, random: Random) => Promise<'idle' | void>

const acts: Readonly<Record<string, Act>> = {
  async deposit(client, random) {
    const amountCents = 1 + random.under(900)
    const { status } = await write(client, random, '/deposits', { amountCents })
    if (status === 200) client.model.deposited += amountCents
    else client.model.wrong.push(`a deposit: ${status}`)
  },
  async openPayin(client, random) {
    client.nextAmount += 1
    const amountCents = client.nextAmount
    await make(client, random, amountCents, '/subscriptions/payin', { amountCents })
  },
  async planPayin(client, random) {
    const plan = client.plans.pop()
    if (!plan) return 'idle'
    await make(client, random, plan.amountCents, '/subscriptions/payin', { plan: plan.id })
  },
  async checkout(client, random) {
    const plan = client.plans.pop()
    if (!plan) return 'idle'
    await make(client, random, plan.amountCents, '/subscriptions/checkout', { plan: plan.id })
  },
  async renew(client, random) {
    // When the balance paid before a transfer, the transfer pays the next pay-in of the same price.
    const wanted = ({ balancePaid, transfer, subscriptionId }: KnownPayin): boolean =>
      balancePaid && transfer === undefined && subscriptionId !== null
    const paid = open(client, random, wanted)
    if (!paid) return 'idle'
    const { subscriptionId, amountCents } = paid
    await make(client, random, amountCents, '/subscriptions/payin', { subscriptionId })
  },
  async fromBalance(client, random) {
    const { model, alone } = client
    const known = open(client, random, ({ plan, transfer }) => plan !== null && !(alone && transfer))
    if (!known) return 'idle'
    const covered = known.balancePaid || (!known.named && balanceOf(model) >= known.amountCents)
    const response = await write(client, random, '/subscriptions/payin/confirm-balance', {
      payinId: known.id,
    })
    if (alone && covered !== (response.status === 200)) {
      model.wrong.push(`${known.amountCents} from ${balanceOf(model)}: ${response.status}`)
    }
    noteBalancePaid(model, known, response)
  },
  async onChain(client, random) {
    const { alone, model } = client
    const single = ({ units }: KnownPayin): boolean =>
      [...model.payins.values()].filter(other => other.units === units).length === 1
    // While it is confirming, the balance is not determined.
    const wanted = (known: KnownPayin): boolean =>
      !known.transfer && !known.balancePaid && single(known) && !(alone && known.plan === null)
    const known = open(client, random, wanted)
    if (!known) return 'idle'
    known.transfer = 'on its way'
    const txHash = await client.pay(known.units)
    known.transfer = txHash
    if (random.next() < 0.5) await mine(client.url)
    if (random.next() < 0.5) await name(client, random, known, txHash)
  },
  async wrongHash(client, random) {
    const known = open(client, random, ({ balancePaid }) => !balancePaid)
    if (!known) return 'idle'
    await name(client, random, known, `0x${randomBytes(32).toString('hex')}`)
  },
  async again(client, random) {
    const { user, responses, model } = client
    const asked = random.of(responses)
    if (!asked) return 'idle'
    const response = await user.write(asked.path, asked.body, asked.key)
    const same = JSON.stringify(response.body.data) === JSON.stringify(asked.data)
    if (response.status !== 200 || !same) {
      model.wrong.push(
        `got ${JSON.stringify(asked.data)}, then ${response.status} ${JSON.stringify(response.body)}`,
      )
    }
  },
  async read({ user, model, alone }, random) {
    const known = random.of([...model.payins.values()])
    if (!known) return 'idle'
    const { balancePaid, named } = known
    const { status } = await user.payin(known.id)
    const early = status === 'awaiting_payment' && (balancePaid || named)
    const late = status === 'settled' && !known.balancePaid && !known.transfer && alone
    if (early || late) model.wrong.push(`${known.id} reads as ${status}: ${JSON.stringify(known, stringify)}`)
    if (!alone) return
    const [balance, expected] = [await user.balance(), balanceOf(model)]
    if (balance !== expected) model.wrong.push(`the balance is ${balance}, must be ${expected}`)
  },
}

const stringify = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

async function name(client: Client, random: Random, known: KnownPayin, txHash: string): Promise<void> {
  const body = { payinId: known.id, txHash }
  noteNamed(client.model, known, await write(client, random, '/subscriptions/payin/confirm', body))
}

const WEIGHTS = { deposit: 3, openPayin: 3, planPayin: 3, checkout: 3, renew: 2, fromBalance: 6, onChain: 5 }
const bag = Object.entries({ ...WEIGHTS, wrongHash: 1, again: 3, read: 3 }).flatMap(([act, weight]) =>
  Array.from({ length: weight }, () => act),
)

/** Performs one random action and returns its name. */
export async function actOnce(client: Client, random: Random): Promise<string> {
  for (;;) {
    const act = random.of(bag) as string
    if ((await acts[act]?.(client, random)) !== 'idle') return act
  }
}
