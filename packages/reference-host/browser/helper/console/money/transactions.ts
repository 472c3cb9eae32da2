import { shortened } from '../../../shared/address.ts'
import { button, el } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import { fromNow, utc } from '../../../shared/time.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { exportButton } from './export.ts'
import { copiedId, factList, timeLine } from './money-drawer.ts'
import { moneyList } from './money-list.ts'
import { fillCells, makeCells } from './money-row.ts'
import type { ConsolePage } from '../page.ts'
import { addressOf } from '../route.ts'
import { load } from '../states.ts'
import { pagedFeed, pageReader } from '../transaction-feed.ts'
import type { Transaction, TransactionDetail } from '../wire.ts'

/** The colour and the word of each status. */
export const TRANSACTION_STATUSES: Readonly<
  Record<Transaction['status'], readonly [tone: string, word: string]>
> = {
  pending: ['warn', 'Pending'],
  completed: ['ok', 'Completed'],
  declined: ['bad', 'Declined'],
  reversed: ['', 'Reversed'],
  failed: ['bad', 'Failed'],
}
const METHODS: Readonly<Record<string, string>> = {
  authorization: 'Card',
  bill: 'Bill',
  credit: 'Credit',
  deposit: 'Deposit',
  move: 'Set aside',
  payin: 'Pay-in',
  payment: 'Payment',
  withdrawal: 'Withdrawal',
}
const TYPES = [
  ['spend', 'Card payments'],
  ['payment', 'Payments, bills, pay-ins'],
  ['collateral', 'Deposits, withdrawals'],
] as const
const FILTERS = ['id', 'keyId', 'cardId', 'from', 'to', 'status', 'type']

/** The page of the account's transactions, newest first. */
export const transactionsPage: ConsolePage = {
  id: 'transactions',
  title: 'Transactions',
  icon: 'transactions',
  actions: context => [
    exportButton(context, '/transactions.csv', FILTERS),
    button(
      'Refresh',
      () => {
        context.transactions.clear()
        context.refresh()
      },
      'small',
    ),
  ],
  render: context =>
    moneyList<Transaction>(context, {
      what: 'transactions',
      columns: ['Amount', 'Status', 'Description', 'Method', 'Date'],
      searchHint: 'txn_…, pay_…, auth_…',
      linked: { cardId: 'Only payments by one card.' },
      choices: {
        status: ['Status', Object.entries(TRANSACTION_STATUSES).map(([value, [, word]]) => [value, word])],
        type: ['Type', TYPES],
      },
      feed: query =>
        query.size === 0
          ? context.transactions
          : pagedFeed(
              pageReader<Transaction>(context.call, { path: '/transactions', name: 'transactions', query }),
            ),
      make: makeCells,
      fill: fillRow,
      empty: ['No money has moved yet.', 'Deposits, card payments, payments and withdrawals show up here.'],
    }),
  drawer(context, id) {
    const body = el('div', { class: 'lines' })
    void load<Detail>(body, {
      what: 'this transaction',
      read: () => readDetail(context, id),
      show: detail => drawerOf(detail),
    })
    return { title: 'Transaction', body: [body] }
  },
}

interface Detail {
  readonly transaction: TransactionDetail
  readonly key: string | null
}

async function readDetail(context: ConsoleContext, id: string) {
  const [reply, keys] = await Promise.all([
    context.call<{ transaction: TransactionDetail }>(`/transactions/${encodeURIComponent(id)}`),
    readAllKeys(context),
  ])
  if (!reply.ok) return reply
  const { transaction } = reply.data
  const key = keys.ok ? keys.data.find(each => each.id === transaction.keyId) : undefined
  return { ok: true as const, data: { transaction, key: key ? keyName(key) : null } }
}

const signed = ({ direction, amountCents }: Transaction): string =>
  direction === 'debit' ? money(-amountCents) : `+${money(amountCents)}`

const isVoid = ({ status }: Transaction): boolean => status !== 'pending' && status !== 'completed'

/** The second line of a description: who was paid, and what for. */
function secondLine({
  counterparty,
  memo,
  merchant,
  merchantDetails,
  direction,
  description,
}: Transaction): string {
  const other =
    counterparty && `${direction === 'debit' ? 'to' : 'from'} ${shortened(counterparty.walletAddress)}`
  const place = merchantDetails && [merchantDetails.city, merchantDetails.country].filter(Boolean).join(', ')
  return [merchant !== null && description, place, other, memo && `“${memo}”`].filter(Boolean).join(' · ')
}

/** Fills a row for another transaction. Only texts and attributes change. */
function fillRow(row: HTMLElement, transaction: Transaction): void {
  const { id, createdAt, description, merchant, status, source } = transaction
  fillCells(row, {
    href: addressOf('transactions', { row: id }),
    amount: signed(transaction),
    status: TRANSACTION_STATUSES[status],
    name: merchant ?? description,
    second: secondLine(transaction),
    method: METHODS[source.kind] ?? source.kind,
    at: createdAt,
    isVoid: isVoid(transaction),
  })
}

function drawerOf({ transaction, key }: Detail): HTMLElement[] {
  const { id, status, description, merchant, counterparty, memo, source, history, createdAt, keyId, cardId } =
    transaction
  const [tone, word] = TRANSACTION_STATUSES[status]
  const other = counterparty && copiedId('wallet', counterparty.walletAddress)
  return [
    el(
      'p',
      { class: isVoid(transaction) ? 'money-sum void' : 'money-sum' },
      el('span', {}, `${signed(transaction)} USD`),
      el('span', { class: `badge ${tone}`.trim() }, word),
    ),
    factList([
      ['What', merchant ?? description],
      [transaction.direction === 'debit' ? 'To' : 'From', other],
      ['Memo', memo],
      ['Method', METHODS[source.kind] ?? source.kind],
      ['Key', keyId && el('a', { href: addressOf('keys', { row: keyId }) }, key ?? keyId)],
      ['Card', cardId && el('a', { href: addressOf('cards', { row: cardId }) }, 'Show the card')],
      ['Made', `${fromNow(createdAt)} · ${utc(createdAt)}`],
    ]),
    el('h3', {}, 'Time line'),
    timeLine(history.length > 0 ? history : [{ to: status, cause: status, at: createdAt }]),
    el('h3', {}, 'Ids'),
    factList([
      ['Transaction', copiedId('transaction id', id)],
      [METHODS[source.kind] ?? source.kind, copiedId('id', source.id)],
      ['Key', copiedId('key id', keyId)],
      ['Card', copiedId('card id', cardId)],
    ]),
  ]
}
