import { networkRequest } from '../harness/card-payments.ts'
import type { HttpResponse } from '../../harness/host.ts'
import type { Random } from '../harness/random.ts'
import { memberOf } from '../harness/transfers.ts'
import { decided, event, write, wrong, type Act, type Client } from './client.ts'
import { count, type KnownAuthorization, type KnownCard } from './model.ts'

const MAX_CARDS = 6
const REJECTED = 1_000_003
const DOWN_ONCE = 1_000_004

/** Asks for a payment by card, and notes what is held then. */
async function authorize(
  client: Client,
  card: KnownCard,
  amountCents: number,
  ask: () => Promise<{ response: HttpResponse; passed: boolean; id: string; networkId?: string }>,
): Promise<void> {
  const { model } = client
  const withinLimit = card.limitCents === undefined || card.countedCents + amountCents <= card.limitCents
  let made: { id: string; networkId?: string } | undefined
  const { passed } = await decided(
    client,
    `a payment by card of ${amountCents}, ${card.countedCents} counted of ${card.limitCents}`,
    available => withinLimit && Math.min(available.balance, available.spend) >= amountCents,
    async () => {
      const asked = await ask()
      made = asked
      return asked
    },
  )
  if (!passed || !made) return
  model.available -= amountCents
  card.countedCents += amountCents
  count(model, amountCents)
  const { id, networkId } = made
  model.authorizations.push({
    id,
    networkId,
    card,
    amountCents,
    status: 'authorized',
    clearedCents: 0,
    refundedCents: 0,
    excessCents: 0,
  })
}

/** Takes an authorization that nothing else changes meanwhile. */
async function change(
  client: Client,
  random: Random,
  status: KnownAuthorization['status'],
  act: (known: KnownAuthorization) => Promise<HttpResponse>,
): Promise<{ known: KnownAuthorization; passed: boolean } | 'idle'> {
  const free = client.model.authorizations.filter(each => each.status === status && !busy.has(each))
  const known = random.of(free)
  if (!known) return 'idle'
  busy.add(known)
  const response = await act(known)
  busy.delete(known)
  const passed = response.status === 200
  if (!passed && response.status !== 0) wrong(client, `a change of ${JSON.stringify(known)}`, response)
  return { known, passed }
}
const busy = new Set<KnownAuthorization>()

/** Gives back a part of what is held. */
function giveBack({ model }: Client, known: KnownAuthorization, cents: number): void {
  model.available += cents
  known.card.countedCents -= cents
  count(model, -cents)
}

const ending = (
  client: Client,
  random: Random,
  { id, networkId }: KnownAuthorization,
  [verb, type]: readonly ['clear' | 'reverse' | 'refund', string],
  body: object,
): Promise<HttpResponse> =>
  networkId === undefined
    ? write(client, random, `/sandbox/authorizations/${id}/${verb}`, body, { root: true })
    : event(client, random, type, { id: networkId, ...body }, 'sandbox')

export const cardActs: Readonly<Record<string, Act>> = {
  async card(client, random) {
    const { model } = client
    if (model.cards.length >= MAX_CARDS) return 'idle'
    const amount = random.of([undefined, 3000, 20_000, REJECTED, DOWN_ONCE])
    const body = amount === undefined ? {} : { limit: { amount, frequency: 'allTime' } }
    const response = await write(client, random, '/cards', body)
    if ((response.status === 200) !== (amount !== REJECTED)) return wrong(client, 'a card', response)
    if (response.status !== 200) return
    model.cards.push({ id: memberOf(response, 'card').id, limitCents: amount, countedCents: 0 })
  },
  async authorize(client, random) {
    const card = random.of(client.model.cards)
    if (!card) return 'idle'
    const amountCents = 1 + random.under(2500)
    await authorize(client, card, amountCents, async () => {
      const body = { cardId: card.id, amountCents }
      const response = await write(client, random, '/sandbox/authorizations', body, { root: true })
      const { id, status } = memberOf(response, 'authorization')
      return { response, passed: status === 'authorized', id }
    })
  },
  async network(client, random) {
    const card = random.of(client.model.cards)
    if (!card) return 'idle'
    const amountCents = 1 + random.under(2500)
    await authorize(client, card, amountCents, async () => {
      const data = networkRequest(card.id, { amountCents })
      const response = await event(client, random, 'authorization.request', data, 'sandbox')
      const { approved, authorizationId, declineReason } = response.body.data['decision'] as {
        approved: boolean
        authorizationId: string
        declineReason: string | null
      }
      if (declineReason === 'unavailable') {
        client.late.push(data.id)
        client.alone = false
      }
      return { response, passed: approved, id: authorizationId, networkId: data.id }
    })
  },
  async clear(client, random) {
    let cents = 0
    const done = await change(client, random, 'authorized', known => {
      // A network may clear more than was held: the excess moves nothing.
      const most = known.networkId === undefined ? known.amountCents : known.amountCents + 500
      cents = random.next() < 0.5 ? known.amountCents : 1 + random.under(most)
      return ending(client, random, known, ['clear', 'authorization.cleared'], { amountCents: cents })
    })
    if (done === 'idle') return done
    if (!done.passed) return
    const { known } = done
    known.clearedCents = Math.min(cents, known.amountCents)
    known.excessCents += cents - known.clearedCents
    known.status = 'cleared'
    giveBack(client, known, known.amountCents - known.clearedCents)
  },
  async reverse(client, random) {
    const done = await change(client, random, 'authorized', known =>
      ending(client, random, known, ['reverse', 'authorization.reversed'], {}),
    )
    if (done === 'idle') return done
    if (!done.passed) return
    done.known.status = 'reversed'
    giveBack(client, done.known, done.known.amountCents)
  },
  async refund(client, random) {
    let cents = 0
    const done = await change(client, random, 'cleared', known => {
      const rest = known.clearedCents - known.refundedCents
      cents = rest === 0 ? 0 : 1 + random.under(rest)
      if (cents === 0) return Promise.resolve({ status: 200 } as HttpResponse)
      return ending(client, random, known, ['refund', 'authorization.refunded'], { amountCents: cents })
    })
    if (done === 'idle') return done
    if (!done.passed) return
    // Neither the limit of the card nor the caps get it back.
    done.known.refundedCents += cents
    client.model.available += cents
  },
  /** The network clears or refunds what has ended: nothing moves beyond what cleared and was not refunded. */
  async late(client, random) {
    const cents = 1 + random.under(500)
    const isRefund = random.next() < 0.5
    const status = random.next() < 0.5 ? 'cleared' : 'reversed'
    const type = isRefund ? 'authorization.refunded' : 'authorization.cleared'
    const done = await change(client, random, status, known =>
      known.networkId === undefined
        ? Promise.resolve({ status: 0 } as HttpResponse)
        : event(client, random, type, { id: known.networkId, amountCents: cents }, 'sandbox'),
    )
    if (done === 'idle') return done
    if (!done.passed) return
    const { known } = done
    const back = isRefund ? Math.min(cents, known.clearedCents - known.refundedCents) : 0
    known.refundedCents += back
    client.model.available += back
    known.excessCents += cents - back
  },
}

/** Takes back, as the network does, what was decided too late. */
export async function takeBack(client: Client, random: Random): Promise<void> {
  for (const id of client.late) {
    const sent = { ...client, model: { ...client.model, wrong: [] } }
    await event(sent, random, 'authorization.reversed', { id }, 'sandbox')
  }
}
