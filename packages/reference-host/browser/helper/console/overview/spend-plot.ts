import { el } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import type { Spending } from './spend-days.ts'

const dollars = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })

/**
 * Draws stacked bars, one for each day. The day under the pointer, or chosen by the arrow keys, is described under the plot and
 * to screen readers.
 */
export function spendPlot(spending: Spending, dayName: Intl.DateTimeFormat): HTMLElement {
  const { days } = spending
  const readout = el('p', { class: 'readout', 'aria-hidden': 'true' })
  const top = plotTop(Math.max(...days.map(({ total }) => total)))
  const bars = days.map(({ cents }) => bar(cents, top))
  const area = el('div', { class: 'plot-area' }, ...grid(top), el('div', { class: 'plot-bars' }, ...bars))
  const plot = el(
    'div',
    {
      class: 'plot',
      tabindex: 0,
      role: 'slider',
      'aria-label': 'Spent on a day, in USD',
      'aria-valuemin': 1,
      'aria-valuemax': days.length,
    },
    area,
    el('div', { class: 'plot-days', 'aria-hidden': 'true' }, ...dayLabels(spending, dayName)),
  )
  let day = -1
  const read = (next: number): void => {
    bars[day]?.classList.remove('chosen')
    day = next
    bars[day]?.classList.add('chosen')
    const words = dayWords(spending, day, dayName)
    readout.textContent = words
    plot.setAttribute('aria-valuenow', String(day + 1))
    plot.setAttribute('aria-valuetext', words)
  }
  read(days.length - 1)
  plot.addEventListener('keydown', event => {
    const next = nextDay(event.key, day, days.length)
    if (next === undefined) return
    event.preventDefault()
    read(next)
  })
  plot.addEventListener('pointermove', ({ clientX }) => {
    const { left, width } = area.getBoundingClientRect()
    const place = Math.floor(((clientX - left) / width) * days.length)
    if (place >= 0 && place < days.length) read(place)
  })
  return el('div', { class: 'plot-frame' }, plot, readout)
}

function nextDay(key: string, day: number, count: number): number | undefined {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, day - 1)
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(count - 1, day + 1)
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : undefined
}

/** Describes a day, such as "20 Nov: 34.50 USD (Cards 20.00, Bills 14.50)". */
function dayWords({ tags, days }: Spending, place: number, dayName: Intl.DateTimeFormat): string {
  const { at, cents, total } = days[place] as Spending['days'][number]
  const parts = tags.flatMap(({ name }, tag) => (cents[tag] ? [`${name} ${money(cents[tag])}`] : []))
  const detail = parts.length > 0 ? ` (${parts.join(', ')})` : ''
  return `${dayName.format(at)}: ${money(total)} USD${detail}`
}

/** The sum of a day as a bar, with a piece for each category. */
function bar(cents: readonly number[], top: number): HTMLElement {
  const pieces = cents.map((amount, tag) => {
    const piece = el('span', { class: `swatch tag-${tag + 1}` })
    piece.style.blockSize = `${(amount / top) * 100}%`
    return piece
  })
  return el('span', { class: 'plot-day', 'aria-hidden': 'true' }, ...pieces)
}

/** How many lines the grid has above 0. */
const LINES = 4

function grid(top: number): HTMLElement[] {
  return Array.from({ length: LINES + 1 }, (_, place) => {
    const line = el(
      'span',
      { class: 'plot-line', 'aria-hidden': 'true' },
      el('span', {}, dollars.format((top * place) / LINES / 100)),
    )
    line.style.insetBlockEnd = `${(place / LINES) * 100}%`
    return line
  })
}

/**
 * Returns the amount at the top of a plot: the next one whose lines are at round amounts, and not below 1 cent a line.
 * @public For its test, which loads the built file.
 */
export function plotTop(most: number): number {
  const line = Math.max(1, most / LINES)
  const unit = 10 ** Math.floor(Math.log10(line))
  const factor = [1, 2, 2.5, 5, 10].find(each => each * unit >= line) ?? 10
  return Math.ceil(factor * unit) * LINES
}

/** How many days have a label each. */
const FEW = 7

/** Labels every day of a week, and every seventh of more days, back from the last one. */
function dayLabels({ days }: Spending, dayName: Intl.DateTimeFormat): HTMLElement[] {
  const step = days.length <= FEW ? 1 : FEW
  return days.flatMap(({ at }, place) => {
    if ((days.length - 1 - place) % step !== 0) return []
    const label = el('span', {}, dayName.format(at))
    label.style.insetInlineStart = `${((place + 0.5) / days.length) * 100}%`
    return [label]
  })
}
