import { counted } from '../../../shared/counted.ts'
import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { daysOfData, firstOf, spendingOf, type Spending } from './spend-days.ts'
import { spendPlot } from './spend-plot.ts'
import { empty, section, showUnread, skeleton } from '../states.ts'
import type { Transaction } from '../wire.ts'

const DAYS = 30
const dayName = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Makes the section about the spending of each of the last 30 days: a plot, and a table with the same numbers. */
export function spendSection(context: ConsoleContext): HTMLElement {
  const body = el('div', { class: 'lines spend' })
  const reload = (): Promise<void> => {
    context.transactions.clear()
    fill(body, skeleton('what was spent'))
    return read(context, body)
  }
  fill(body, skeleton('what was spent'))
  void read(context, body)
  const unit = el('span', { class: 'muted small' }, 'USD a day, in UTC')
  return section(
    'Spent in 30 days',
    [body],
    el('span', { class: 'buttons' }, unit, button('Refresh', reload, 'small')),
  )
}

async function read(context: ConsoleContext, body: HTMLElement): Promise<void> {
  const { transactions: feed } = context
  const first = firstOf(DAYS)
  const progress = el('p', { class: 'muted' })
  const isEnough = (): boolean => Date.parse(feed.items.at(-1)?.createdAt ?? '') < first
  const problem = await feed.until(isEnough, () => {
    progress.textContent = `${feed.items.length} transactions read so far.`
    if (!progress.isConnected && feed.items.length > 500) body.append(progress)
  })
  if (problem) {
    const reload = (): Promise<void> => read(context, body)
    return showUnread(body, 'What was spent cannot be shown. Nothing was changed.', problem, reload)
  }
  const names = await readKeyNames(context)
  fill(body, ...withFilter(feed.items, names))
}

/** The names of the keys by their ids. Without them, keys are named by their ids. */
async function readKeyNames(context: ConsoleContext): Promise<ReadonlyMap<string, string>> {
  const keys = await readAllKeys(context)
  return new Map(keys.ok ? keys.data.map(key => [key.id, keyName(key)]) : [])
}

/** Adds a choice of the key, if more than one has spent. */
function withFilter(all: readonly Transaction[], names: ReadonlyMap<string, string>): Child[] {
  const result = el('div', { class: 'lines' })
  // The days before the first transaction would be empty.
  const count = daysOfData(all, DAYS)
  const show = (keyId: string): void => {
    const chosen = keyId === '' ? all : all.filter(each => each.keyId === keyId)
    fill(result, ...render(spendingOf(chosen, count)))
  }
  show('')
  const ids = [...new Set(all.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])))]
  if (ids.length < 2) return [result]
  const choice = el(
    'select',
    { class: 'input', id: 'spend-key' },
    el('option', { value: '' }, 'All keys'),
    ...ids.map(id => el('option', { value: id }, names.get(id) ?? id)),
  )
  choice.addEventListener('change', () => show(choice.value))
  return [el('div', { class: 'filter' }, el('label', { for: 'spend-key' }, 'Key'), choice), result]
}

function render(spending: Spending): Child[] {
  if (spending.tags.length === 0)
    return [
      empty(
        'Nothing was spent in the last 30 days.',
        'Card payments, payments, bills and withdrawals show up here.',
      ),
    ]
  const count = spending.days.length
  return [
    spendPlot(spending, dayName),
    totals(spending),
    count < DAYS && el('p', { class: 'muted small' }, `${counted(count, 'day')} of data.`),
    table(spending),
  ]
}

/** Shows the sum of each category, with the colour of its bars. */
function totals({ tags, days }: Spending): HTMLElement {
  const sums = tags.map((_, tag) => days.reduce((sum, { cents }) => sum + (cents[tag] ?? 0), 0))
  const items = tags.map(({ name }, tag) =>
    el(
      'li',
      {},
      el('span', { class: `swatch tag-${tag + 1}`, 'aria-hidden': 'true' }),
      `${name} `,
      el('strong', {}, money(sums[tag] ?? 0)),
    ),
  )
  const all = sums.reduce((sum, each) => sum + each, 0)
  return el('ul', { class: 'totals' }, ...items, el('li', {}, 'Total ', el('strong', {}, money(all)), ' USD'))
}

function table({ tags, days }: Spending): HTMLElement {
  const head = ['Day', ...tags.map(({ name }) => name), 'Total'].map((name, place) =>
    el('th', { scope: 'col', class: place === 0 ? '' : 'number' }, name),
  )
  const rows = days
    .toReversed()
    .map(({ at, cents, total }) =>
      el(
        'tr',
        {},
        el(
          'th',
          { scope: 'row' },
          el('time', { datetime: new Date(at).toISOString().slice(0, 10) }, dayName.format(at)),
        ),
        ...[...cents, total].map(each => el('td', { class: 'number' }, money(each))),
      ),
    )
  const caption = el('caption', { class: 'unseen' }, 'Spent in the last 30 days, in USD')
  return el(
    'details',
    {},
    el('summary', {}, 'Show the numbers as a table'),
    el(
      'div',
      { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': 'Spent by day, in USD' },
      el('table', {}, caption, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows)),
    ),
  )
}
