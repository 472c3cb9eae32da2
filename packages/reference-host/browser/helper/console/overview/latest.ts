import { el, type Child } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import { when } from '../../../shared/time.ts'
import type { ConsoleContext } from '../context.ts'
import { listRow } from '../list-row.ts'
import { addressOf } from '../route.ts'
import { empty, load, section } from '../states.ts'
import { TRANSACTION_STATUSES } from '../money/transactions.ts'
import type { Transaction } from '../wire.ts'

const COUNT = 5

/** Makes the section of the latest transactions, with a link to all of them. */
export function latestSection({ transactions: feed }: ConsoleContext): HTMLElement {
  const body = el('div', { class: 'lines latest' })
  void load<readonly Transaction[]>(body, {
    what: 'your latest transactions',
    async read() {
      const problem = await feed.until(
        () => feed.items.length >= COUNT,
        () => {},
      )
      return problem ? { ok: false, problem } : { ok: true, data: feed.items.slice(0, COUNT) }
    },
    show: items =>
      items.length === 0
        ? [empty('No money has moved yet.', 'Deposits, payments and withdrawals show up here.')]
        : [el('ul', { class: 'rows' }, ...items.map(row))],
  })
  return section('Latest', [body], el('a', { href: addressOf('transactions') }, 'All transactions'))
}

function row({ id, status, merchant, description, createdAt, amountCents, direction }: Transaction): Child {
  const [tone, word] = TRANSACTION_STATUSES[status]
  const amount = direction === 'debit' ? money(-amountCents) : `+${money(amountCents)}`
  return listRow({
    name: [
      el('a', { href: addressOf('transactions', { row: id }) }, merchant ?? description),
      status !== 'completed' && el('span', { class: `badge ${tone}`.trim() }, word),
    ],
    below: [el('p', { class: 'muted small' }, when(createdAt))],
    end: el('span', { class: 'number' }, amount),
  })
}
