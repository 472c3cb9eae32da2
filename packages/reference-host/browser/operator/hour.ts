import { el, fill } from '../shared/dom.ts'
import { OUTCOMES, type DecisionFigures, type HourFigures } from './figures.ts'
import type { FiguresFeed } from './figures-feed.ts'
import { count, duration, percent, rate } from './numbers.ts'
import { redrawn } from './panel.ts'
import { sparkline } from './sparkline.ts'
import { slotTimes, valuesAt } from './times.ts'

type Slot = DecisionFigures['slots'][number]

/** One figure of the latest hour. */
interface Measure {
  readonly name: string
  /** The CSS custom property of its line. */
  readonly colour: string
  readonly value: (hour: HourFigures) => number | null
  readonly show: (value: number) => string
  /** Describes how much the value has changed since the day before. */
  readonly change: (now: number, before: number) => string
  /** The value of a slot of 5 minutes. */
  readonly slot: (slot: Slot) => number | null
  /** The value of a slot without requests. */
  readonly none: number | null
}

const requestsOf = (slot: Slot): number => OUTCOMES.reduce((sum, outcome) => sum + slot[outcome], 0)
const signed = (value: number, show: (value: number) => string): string =>
  `${value < 0 ? '−' : '+'}${show(Math.abs(value))}`
const relative = (now: number, before: number): string =>
  before === 0 ? signed(now, rate) : signed(((now - before) / before) * 100, value => `${value.toFixed(0)} %`)

const MEASURES: readonly Measure[] = [
  {
    name: 'Requests per minute',
    colour: '--accent',
    value: hour => hour.requestsPerMinute,
    show: rate,
    change: relative,
    slot: slot => requestsOf(slot) / 5,
    none: 0,
  },
  {
    name: 'Refused',
    colour: '--refused',
    value: hour => hour.refusedShare,
    show: percent,
    change: (now, before) => signed((now - before) * 100, value => `${value.toFixed(1)} points`),
    slot: slot => (slot.refused + slot.limited) / Math.max(1, requestsOf(slot)),
    none: 0,
  },
  {
    name: 'Server errors (5xx)',
    colour: '--failed',
    value: hour => hour.failed,
    show: count,
    change: (now, before) => signed(now - before, count),
    slot: slot => slot.failed,
    none: 0,
  },
  {
    name: 'Latency (p99)',
    colour: '--accent',
    value: hour => hour.p99Ms,
    show: duration,
    change: relative,
    slot: slot => slot.p99Ms,
    none: null,
  },
]

/** Makes the four figures of the latest hour, each with its line of 24 hours and its change since the same hour yesterday. */
export function hourTiles(feed: FiguresFeed): HTMLElement {
  const element = el('dl', { class: 'hour' })
  fill(
    element,
    ...MEASURES.map(({ name }) => el('div', { class: 'card tile' }, el('dt', {}, name), el('dd', {}, '–'))),
  )
  const draw = redrawn<DecisionFigures>(element, reply => {
    if (reply.ok) fill(element, ...MEASURES.map(measure => tile(measure, reply.data)))
  })
  feed.follow<DecisionFigures>('decisions', draw)
  return el('section', { 'aria-label': 'The latest hour' }, element)
}

function tile(
  { name, colour, value, show, change, slot, none }: Measure,
  figures: DecisionFigures,
): HTMLElement {
  const { hour, dayBefore, slots, since, slotSeconds, windowSeconds } = figures
  const now = value(hour)
  const before = dayBefore && value(dayBefore)
  const compared =
    now === null || before === null
      ? 'No figure for yesterday'
      : show(now) === show(before)
        ? 'As yesterday'
        : `${change(now, before)} · ${show(before)} yesterday`
  const line = sparkline(valuesAt(slotTimes(since, slotSeconds, windowSeconds), slots, slot, none))
  return el(
    'div',
    { class: 'card tile', 'data-colour': colour },
    el('dt', {}, name),
    el('dd', { class: 'tile-value' }, now === null ? '–' : show(now)),
    el('dd', { class: 'small muted' }, compared),
    el('dd', { class: 'tile-line' }, line),
  )
}
