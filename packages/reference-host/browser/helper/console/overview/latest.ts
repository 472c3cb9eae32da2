import { el, type Child } from '../../../shared/dom.ts'
import { when } from '../../../shared/time.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { listRow } from '../list-row.ts'
import { addressOf } from '../route.ts'
import { empty, load, section } from '../states.ts'
import { signed, transactionDetail, transactionName } from '../money/transaction-words.ts'
import { TRANSACTION_STATUSES } from '../money/transactions.ts'
import type { Key, Transaction } from '../wire.ts'

const COUNT = 5

interface Found {
  readonly items: readonly Transaction[]
  readonly keys: readonly Key[]
}

/** Makes the section of the latest transactions, with a link to all of them. */
export function latestSection(context: ConsoleContext): HTMLElement {
  const { transactions: feed } = context
  const body = el('div', { class: 'lines latest' })
  void load<Found>(body, {
    what: 'your latest transactions',
    async read() {
      const problem = await feed.until(
        () => feed.items.length >= COUNT,
        () => {},
      )
      if (problem) return { ok: false, problem }
      const keys = await readAllKeys(context)
      const items = feed.items.slice(0, COUNT)
      return { ok: true, data: { items, keys: keys.ok ? keys.data : [] } }
    },
    show: ({ items, keys }) =>
      items.length === 0
        ? [empty('No money has moved yet.', 'Deposits, payments and withdrawals show up here.')]
        : [el('ul', { class: 'rows' }, ...items.map(item => row(item, keys)))],
  })
  return section('Latest', [body], el('a', { href: addressOf('transactions') }, 'All transactions'))
}

function row(transaction: Transaction, keys: readonly Key[]): Child {
  const { id, status, createdAt, keyId } = transaction
  const key = keys.find(each => each.id === keyId)
  const detail = transactionDetail(transaction, key && keyName(key))
  const [tone, word] = TRANSACTION_STATUSES[status]
  return listRow({
    name: [
      el('a', { href: addressOf('transactions', { row: id }) }, transactionName(transaction)),
      status !== 'completed' && el('span', { class: `badge ${tone}`.trim() }, word),
    ],
    below: [el('p', { class: 'muted small' }, when(createdAt), detail && ` · ${detail}`)],
    end: el('span', { class: 'number' }, signed(transaction)),
  })
}
