import type { Reply } from '../../../shared/api.ts'
import { el, type Child } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import type { ConsoleContext } from '../context.ts'
import { addressOf } from '../route.ts'
import { firstOf, spendingOf } from './spend-days.ts'
import { load } from '../states.ts'
import type { Balance } from '../wire.ts'

/** The most refusals that are counted: the list of requests has the others. */
const MOST_COUNTED = 100

/** Makes the four figures at the top: what can be spent, what is pending, what was spent today, and what was refused today. */
export function tiles(context: ConsoleContext): HTMLElement {
  let balance: Promise<Reply<{ readonly balances: readonly Balance[] }>> | undefined
  // Two tiles share one call. One that failed is made again when a tile is read again.
  const ofBalance = (member: 'availableCents' | 'pendingCents') => async (): Promise<Reply<Child>> => {
    balance ??= context.call('/balances')
    const reply = await balance
    if (!reply.ok) balance = undefined
    return reply.ok ? { ok: true, data: dollars(reply.data.balances[0]?.[member] ?? 0) } : reply
  }
  return el(
    'dl',
    { class: 'tiles' },
    tile('Available', 'your balance', ofBalance('availableCents')),
    tile('Pending', 'what is pending', ofBalance('pendingCents')),
    tile('Spent today', 'what was spent today', () => spentToday(context)),
    tile('Refused today', 'what was refused today', () => refusedToday(context)),
  )
}

function tile(name: string, what: string, read: () => Promise<Reply<Child>>): HTMLElement {
  const value = el('dd', { class: 'amount' })
  void load<Child>(value, { what, read, show: data => [data] })
  return el('div', { class: 'tile' }, el('dt', {}, name), value)
}

const dollars = (cents: number): HTMLElement =>
  el('span', {}, money(cents), el('span', { class: 'currency' }, ' USD'))

async function spentToday({ transactions: feed }: ConsoleContext): Promise<Reply<Child>> {
  const midnight = firstOf(1)
  const problem = await feed.until(
    () => Date.parse(feed.items.at(-1)?.createdAt ?? '') < midnight,
    () => {},
  )
  if (problem) return { ok: false, problem }
  return { ok: true, data: dollars(spendingOf(feed.items, 1).days[0]?.total ?? 0) }
}

async function refusedToday({ call }: ConsoleContext): Promise<Reply<Child>> {
  const reply = await call<{ requests: readonly { readonly createdAt: string }[] }>(
    `/requests?outcome=refused&limit=${MOST_COUNTED}`,
  )
  if (!reply.ok) return reply
  const count = reply.data.requests.filter(({ createdAt }) => Date.parse(createdAt) >= firstOf(1)).length
  const isCut = count === MOST_COUNTED
  if (count === 0) return { ok: true, data: '0' }
  const words = isCut ? `${count}+` : String(count)
  return {
    ok: true,
    data: el(
      'a',
      { class: 'refused', href: addressOf('requests', { query: { outcome: 'refused' } }) },
      words,
    ),
  }
}
