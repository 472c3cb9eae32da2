import type { Problem } from '../../shared/api.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { money } from '../../shared/money.ts'
import { fromNow, utc } from '../../shared/time.ts'
import type { ConsoleContext } from './context.ts'
import type { ConsolePage } from './page.ts'
import { empty, problemNote, skeleton } from './states.ts'
import { virtualList } from './virtual-list.ts'
import type { Transaction } from './wire.ts'

const STATUSES: Readonly<Record<Transaction['status'], readonly [tone: string, word: string]>> = {
  pending: ['warn', 'Pending'],
  completed: ['ok', 'Completed'],
  declined: ['bad', 'Declined'],
  reversed: ['', 'Reversed'],
  failed: ['bad', 'Failed'],
}

/** The page of the account's transactions, newest first. Scrolling reads more. */
export const transactionsPage: ConsolePage = {
  id: 'transactions',
  title: 'Transactions',
  icon: 'transactions',
  actions: context => [
    button(
      'Refresh',
      () => {
        context.transactions.clear()
        context.refresh()
      },
      'small',
    ),
  ],
  render,
}

function render(context: ConsoleContext): Child[] {
  const { transactions: feed } = context
  const body = el('div', { class: 'lines' }, skeleton('your transactions'))
  const state = el('p', { class: 'muted small' })
  const problemBox = el('div')
  const list = virtualList({
    label: 'Transactions',
    columns: ['When', 'What', 'Status', 'USD'],
    count: () => feed.items.length,
    complete: () => feed.complete,
    make: makeRow,
    fill: (row, place) => fillRow(row, feed.items[place] as Transaction),
    nearEnd: () => void more(),
  })
  const more = async (): Promise<void> => showState(await feed.more())
  const showState = (problem: Problem | undefined): void => {
    state.textContent = feed.complete
      ? `All ${feed.items.length} shown.`
      : `${feed.items.length} read so far. Scroll for more.`
    fill(problemBox, problem && problemNote('Older transactions cannot be shown.', problem, more))
    if (!problem) list.update()
  }
  const first = async (): Promise<void> => {
    const problem = feed.items.length > 0 ? undefined : await feed.more()
    if (problem)
      fill(body, problemNote('Your transactions cannot be shown. Nothing was changed.', problem, first))
    else if (feed.items.length === 0) fill(body, noTransactions())
    else {
      fill(body, list.element, state, problemBox)
      showState(undefined)
    }
  }
  void first()
  return [el('div', { class: 'card' }, body)]
}

const noTransactions = (): HTMLElement =>
  empty('No money has moved yet.', 'Deposits, card payments, payments and withdrawals show up here.')

function makeRow(): HTMLElement {
  const cell = (name: string): HTMLElement => el('span', { role: 'cell', class: `cell ${name}` })
  const row = el('div', { class: 'virtual-row' }, cell('at'), cell('what'), cell('state'), cell('amount'))
  row.children[0]?.append(el('time'))
  row.children[2]?.append(el('span'))
  return row
}

/** Fills a row for another transaction. Only texts and attributes change. */
function fillRow(row: HTMLElement, transaction: Transaction): void {
  const { createdAt, description, merchant, status, direction, amountCents } = transaction
  const [at, what, state, amount] = row.children as unknown as HTMLElement[]
  const time = at?.firstElementChild as HTMLTimeElement
  time.dateTime = createdAt
  time.title = utc(createdAt)
  time.textContent = fromNow(createdAt)
  if (what) what.textContent = merchant ?? description
  const [tone, word] = STATUSES[status]
  const badge = state?.firstElementChild as HTMLElement
  badge.className = `badge ${tone}`.trim()
  badge.textContent = word
  if (amount) amount.textContent = direction === 'debit' ? money(-amountCents) : `+${money(amountCents)}`
  row.classList.toggle('void', status !== 'pending' && status !== 'completed')
}
