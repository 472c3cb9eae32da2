import { button, el } from '../../../shared/dom.ts'
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
import { signed, transactionDetail, transactionName } from './transaction-words.ts'
import type { Card, Transaction, TransactionDetail } from '../wire.ts'

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
/** What the id of a source names, where it is not the method. */
const SOURCES: Readonly<Record<string, string>> = { authorization: 'Authorization' }
const TYPES = [
  ['spend', 'Card payments'],
  ['payment', 'Payments, bills, pay-ins'],
  ['collateral', 'Deposits, withdrawals'],
] as const
const FILTERS = ['q', 'keyId', 'cardId', 'from', 'to', 'status', 'type']

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
      one: 'transaction',
      columns: ['Amount', 'Status', 'Description', 'Method', 'Date'],
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
  /** The card by its last digits; null without a card. */
  readonly card: string | null
}

async function readDetail(context: ConsoleContext, id: string) {
  const [reply, keys] = await Promise.all([
    context.call<{ transaction: TransactionDetail }>(`/transactions/${encodeURIComponent(id)}`),
    readAllKeys(context),
  ])
  if (!reply.ok) return reply
  const { transaction } = reply.data
  const key = keys.ok ? keys.data.find(each => each.id === transaction.keyId) : undefined
  const card = transaction.cardId === null ? null : await cardName(context, transaction.cardId)
  return { ok: true as const, data: { transaction, key: key ? keyName(key) : null, card } }
}

/** A card by its last digits; null if it cannot be read. */
async function cardName({ call }: ConsoleContext, id: string): Promise<string | null> {
  const reply = await call<{ card: Card }>(`/cards/${encodeURIComponent(id)}`)
  return reply.ok ? `•••• ${reply.data.card.last4}` : null
}

const isVoid = ({ status }: Transaction): boolean => status !== 'pending' && status !== 'completed'

/** Fills a row for another transaction. Only texts and attributes change. */
function fillRow(row: HTMLElement, transaction: Transaction): void {
  const { id, createdAt, status, source } = transaction
  fillCells(row, {
    href: addressOf('transactions', { row: id }),
    amount: signed(transaction),
    status: TRANSACTION_STATUSES[status],
    name: transactionName(transaction),
    second: transactionDetail(transaction),
    method: METHODS[source.kind] ?? source.kind,
    at: createdAt,
    isVoid: isVoid(transaction),
  })
}

function drawerOf({ transaction, key, card }: Detail): HTMLElement[] {
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
      ['Card', cardId && el('a', { href: addressOf('cards', { row: cardId }) }, card ?? 'Open the card')],
      ['Created', `${fromNow(createdAt)} · ${utc(createdAt)}`],
    ]),
    el('h3', {}, 'Timeline'),
    timeLine(history.length > 0 ? history : [{ to: status, cause: status, at: createdAt }]),
    el('h3', {}, 'Ids'),
    factList([
      ['Transaction', copiedId('transaction id', id)],
      [SOURCES[source.kind] ?? METHODS[source.kind] ?? source.kind, copiedId('id', source.id)],
      ['Key', copiedId('key id', keyId)],
      ['Card', copiedId('card id', cardId)],
    ]),
  ]
}
