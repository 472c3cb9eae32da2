import { el } from '../../../shared/dom.ts'
import { fromNow, utc } from '../../../shared/time.ts'

/** What a row of a list of money shows. */
interface MoneyRow {
  /** The address of its drawer. */
  readonly href: string
  readonly amount: string
  readonly status: readonly [tone: string, word: string]
  readonly name: string
  /** A second line under the name; empty for none. */
  readonly second: string
  readonly method: string
  readonly at: string
  /** Whether the money did not move. */
  readonly isVoid: boolean
}

const CELLS = ['amount', 'state', 'what', 'method', 'at']

/** Makes an empty row with its cells. */
export function makeCells(): HTMLElement {
  const cells = CELLS.map(name => el('span', { role: 'cell', class: `cell ${name}` }))
  cells[1]?.append(el('span'))
  cells[2]?.append(el('a', {}), el('span', { class: 'muted small' }))
  cells[4]?.append(el('time'))
  const row = el('div', { class: 'virtual-row' }, ...cells)
  // The whole row opens the drawer; the link in it is for the keyboard and for screen readers.
  row.addEventListener('click', event => {
    if (!(event.target instanceof HTMLAnchorElement)) row.querySelector('a')?.click()
  })
  return row
}

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** Fills a row. Only texts and attributes change. */
export function fillCells(row: HTMLElement, shown: MoneyRow): void {
  const [amount, state, what, method, at] = row.children as unknown as HTMLElement[]
  const [link, second] = (what as HTMLElement).children as unknown as [HTMLAnchorElement, HTMLElement]
  const badge = state?.firstElementChild as HTMLElement
  const time = at?.firstElementChild as HTMLTimeElement
  if (amount) amount.textContent = shown.amount
  badge.className = `badge ${shown.status[0]}`.trim()
  badge.textContent = shown.status[1]
  link.href = shown.href
  link.textContent = shown.name
  second.textContent = shown.second
  if (method) method.textContent = shown.method
  time.dateTime = shown.at
  time.title = `${fromNow(shown.at)} · ${utc(shown.at)}`
  time.textContent = day.format(new Date(shown.at))
  row.classList.toggle('void', shown.isVoid)
}
