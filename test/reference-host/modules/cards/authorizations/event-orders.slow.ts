// Every order of the events of one payment, each repeated and each sent again: the books end alike, or attention says what is open.
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { ledgerAccounts, type AppliedEvent } from '@gatewright/host/internal'
import t from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { uniqueName } from '../../../../harness/stores.ts'
import { increment, openNetwork, request } from './open-network.ts'

const network = await openNetwork(t)
const { db, all, clock, card, ask, held, balance, ledger } = network
const DAY_MS = 86_400_000

/** One event of a payment. `id` names its money; without it the id of its message does. */
interface PaymentEvent {
  readonly type: 'request' | 'increment' | 'cleared' | 'reversed' | 'refunded'
  readonly id?: string
  readonly amountCents?: number
  readonly final?: boolean
}
const ID_MEMBER = { cleared: 'clearingId', reversed: 'reversalId', refunded: 'refundId' } as const

/** Where the money of a payment is: the balance of the account, which had 1000 cents, and what is held, has cleared and was refunded. */
type Books = readonly [balance: number, held: number, cleared: number, refunded: number]

const PAYMENTS: Readonly<
  Record<string, { readonly events: readonly PaymentEvent[]; readonly books: Books }>
> = {
  'two shipments, a reversal of a part and a refund': {
    events: [
      { type: 'request', amountCents: 900 },
      { type: 'reversed', id: 'r1', amountCents: 250 },
      { type: 'cleared', id: 'c1', amountCents: 350, final: false },
      { type: 'cleared', id: 'c2', amountCents: 250 },
      { type: 'refunded', id: 'f1', amountCents: 150 },
    ],
    books: [1000 - 600 + 150, 0, 600, 150],
  },
  'a clearing and two refunds of equal amounts': {
    events: [
      { type: 'request', amountCents: 500 },
      { type: 'cleared', id: 'c1', amountCents: 400 },
      { type: 'refunded', id: 'f1', amountCents: 100 },
      { type: 'refunded', id: 'f2', amountCents: 100 },
    ],
    books: [800, 0, 400, 200],
  },
  'an increment and its clearing': {
    events: [
      { type: 'request', amountCents: 300 },
      { type: 'increment', id: 'i1', amountCents: 200 },
      { type: 'cleared', id: 'c1', amountCents: 500 },
      { type: 'refunded', id: 'f1', amountCents: 50 },
    ],
    books: [550, 0, 500, 50],
  },
  'a reversal of all': {
    events: [
      { type: 'request', amountCents: 300 },
      { type: 'reversed', id: 'r1', amountCents: 300 },
    ],
    books: [1000, 0, 0, 0],
  },
  'a reversal in parts': {
    events: [
      { type: 'request', amountCents: 300 },
      { type: 'reversed', id: 'r1', amountCents: 100 },
      { type: 'reversed', id: 'r2', amountCents: 100 },
      { type: 'reversed', id: 'r3' },
    ],
    books: [1000, 0, 0, 0],
  },
  'an account check': {
    events: [
      { type: 'request', amountCents: 0 },
      { type: 'cleared', id: 'c1', amountCents: 0 },
      { type: 'reversed', id: 'r1' },
    ],
    books: [1000, 0, 0, 0],
  },
}

function ordersOf<T>(list: readonly T[]): T[][] {
  if (list.length <= 1) return [[...list]]
  return list.flatMap((first, at) => ordersOf(list.toSpliced(at, 1)).map(rest => [first, ...rest]))
}

/** A sender of the events of one payment. `isNamed`: its events name their money, so it may send them again in other messages. */
function sender(cardId: string, isNamed: boolean) {
  const networkId = uniqueName()
  const requested = request(cardId, { id: networkId })
  const raise = increment(networkId)
  const messages = new Map<PaymentEvent, string>()

  /** Sends an event, in the message of before or in another one. Returns whether it was accepted. */
  async function send(event: PaymentEvent, inOtherMessage: boolean): Promise<boolean> {
    const { type, id, ...terms } = event
    if (type === 'request') return (await ask(type, { ...requested, ...terms })) !== undefined
    if (type === 'increment') return (await ask(type, { ...raise, ...terms })) !== undefined
    const messageId = inOtherMessage ? uniqueName() : (messages.get(event) ?? uniqueName())
    messages.set(event, messageId)
    const data = { id: networkId, ...terms, ...(isNamed ? { [ID_MEMBER[type]]: id } : {}) }
    const name = `authorization.${type}`
    const received = { provider: 'sandbox', messageId, type: name, data }
    const outcome = await db.transaction(tx =>
      internals.applyEvent(tx, received, all[name] as AppliedEvent, clock.now()),
    )
    return outcome !== 'unknown' && outcome !== 'early'
  }
  return { networkId, send }
}

/** Sends events in an order, each of them twice, then all of them again, and those that are not accepted until they are. */
async function play(order: readonly PaymentEvent[], isNamed: boolean) {
  const { accountId, cardId } = await card()
  const { networkId, send } = sender(cardId, isNamed)
  let refused: PaymentEvent[] = []
  const sendAll = async (events: readonly PaymentEvent[], inOtherMessage: boolean): Promise<void> => {
    refused = []
    for (const event of events) {
      clock.advance(1000)
      const isAccepted = await send(event, inOtherMessage)
      if (!(await send(event, false)) && !isAccepted) refused.push(event)
    }
  }
  await sendAll(order, false)
  await sendAll(order, isNamed)
  for (let round = 0; round < 2 && refused.length > 0; round += 1) await sendAll(refused, false)
  // What was not accepted by then is not sent any more.
  clock.advance(2 * DAY_MS)
  const [row] = await internals.authorizationTable.select(db, 'where account_id = $1', [accountId])
  const books = [
    await balance(ledgerAccounts.user(accountId)),
    await held(accountId),
    row?.clearedCents ?? 0,
    row?.refundedCents ?? 0,
  ]
  const text = 'select count(*) as n from gw_kept_events where object_id = $1 and attention_at <= $2'
  const kept = toInteger((await rows(db, text, [networkId, clock.now()]))[0]?.['n'])
  return {
    books,
    heldCents: row?.heldCents ?? 0,
    needsAttention: kept > 0 || (row?.attention ?? null) !== null,
  }
}

let [orders, alike] = [0, 0]
for (const [title, { events, books }] of Object.entries(PAYMENTS))
  for (const isNamed of [true, false]) {
    // 120 orders take some seconds.
    if (!isNamed && events.length > 4) continue
    t.test(
      `${title}: every order, ${isNamed ? 'with ids of the money' : 'with ids of messages'}`,
      async t => {
        for (const order of ordersOf(events)) {
          const played = await play(order, isNamed)
          const said = order.map(({ type, id = '' }) => `${type} ${id}`.trim()).join(', ')
          const [left, heldNow, cleared, refunded] = played.books as unknown as Books
          const isAlike = JSON.stringify(played.books) === JSON.stringify(books)
          if (!isAlike && !played.needsAttention) t.same(played.books, books, said)
          if (left + heldNow + cleared - refunded !== 1000 || heldNow !== played.heldCents)
            t.fail(`${said}: the books do not add up: ${JSON.stringify(played)}`)
          orders += 1
          alike += Number(isAlike)
          // In the order in which it happened, nothing is open.
          if (order.every((event, at) => event === events[at]))
            t.same([played.books, played.needsAttention], [books, false], said)
        }
      },
    )
  }

t.test('leaves a ledger in which all sums are right', async t => {
  t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [] })
  t.same(await internals.accountsThatDiffer(db, internals.heldMoney), [])
  t.comment(
    `measured: ${orders} orders; the books of ${alike} end alike, and attention says what is open in ${orders - alike}`,
  )
  t.equal(orders, 120 + 2 * (24 + 24 + 2 + 24 + 6))
})
