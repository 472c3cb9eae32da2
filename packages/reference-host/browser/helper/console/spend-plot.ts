import uPlot from 'uplot'
import { el } from '../../shared/dom.ts'
import { money } from '../../shared/money.ts'
import type { Spending } from './spend-days.ts'

const HEIGHT = 200
const dollars = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })

/**
 * Draws stacked bars, one for each day. The day under the pointer, or chosen by the arrow keys, is described under the plot and
 * to screen readers.
 */
export function spendPlot(spending: Spending, dayName: Intl.DateTimeFormat): HTMLElement {
  const { days } = spending
  const readout = el('p', { class: 'readout', 'aria-hidden': 'true' })
  const canvas = el('div', {
    class: 'plot',
    tabindex: 0,
    role: 'slider',
    'aria-label': 'Spent on a day, in USD',
    'aria-valuemin': 1,
    'aria-valuemax': days.length,
  })
  let day = days.length - 1
  const read = (next: number): void => {
    day = next
    const words = dayWords(spending, day, dayName)
    readout.textContent = words
    canvas.setAttribute('aria-valuenow', String(day + 1))
    canvas.setAttribute('aria-valuetext', words)
  }
  read(day)
  let plot: uPlot | undefined
  const draw = (): void => {
    const width = canvas.clientWidth
    if (width === 0) return
    // uPlot keeps every plot that is not destroyed.
    plot?.destroy()
    plot = new uPlot(optionsOf(spending, { width, dayName, hovered: read }), stacked(spending), canvas)
  }
  canvas.addEventListener('keydown', event => {
    const next = nextDay(event.key, day, days.length)
    if (next === undefined) return
    event.preventDefault()
    read(next)
    plot?.setCursor({ left: plot.valToPos(next, 'x'), top: 10 })
  })
  // The plot is drawn again when the colour scheme changes, because a canvas keeps its colours.
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const drawSoon = (): number => requestAnimationFrame(draw)
  scheme.addEventListener('change', drawSoon)
  new ResizeObserver((_, observer) => {
    if (canvas.isConnected) return draw()
    observer.disconnect()
    scheme.removeEventListener('change', drawSoon)
    plot?.destroy()
  }).observe(canvas)
  return el('div', { class: 'plot-frame' }, canvas, readout)
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

/** Returns the data of the plot: the highest sum first, since each bar is drawn over the one before. */
function stacked({ tags, days }: Spending): uPlot.AlignedData {
  const sums = tags.map((_, tag) =>
    days.map(({ cents }) => cents.slice(0, tag + 1).reduce((sum, each) => sum + each, 0) / 100),
  )
  return [days.map((_, place) => place), ...sums.toReversed()]
}

interface PlotContext {
  readonly width: number
  readonly dayName: Intl.DateTimeFormat
  readonly hovered: (day: number) => void
}

function optionsOf({ tags, days }: Spending, { width, dayName, hovered }: PlotContext): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const axis = { stroke: colour('--muted'), font: `13px ${colour('--font')}`, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.7, 28], align: 0 })
  const series = tags.map((_, tag) => {
    const fill = colour(`--tag-${tag + 1}`)
    return { fill, stroke: fill, width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) }
  })
  return {
    width,
    height: HEIGHT,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: false, range: [-0.6, days.length - 0.4] },
      y: { range: (_, __, most) => [0, most * 1.05] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        splits: labelled(days.length, width),
        values: (_, places) => places.map(place => dayName.format(days[place]?.at)),
      },
      {
        ...axis,
        size: 64,
        grid: { stroke: colour('--border'), width: 1 },
        values: (_, amounts) => amounts.map(amount => dollars.format(amount)),
      },
    ],
    series: [{}, ...series.toReversed()],
    hooks: {
      setCursor: [
        ({ cursor: { idx } }) => {
          if (typeof idx === 'number') hovered(idx)
        },
      ],
    },
  }
}

/** How many days have a label each, if there is the width for it. */
const FEW = 7
/** The width of a label with its gap, in CSS pixels. */
const LABEL_WIDTH = 72

/** Returns the indexes of the labels. Of many days today has none, because the edge has no space for it. */
const labelled = (count: number, width: number) => (): number[] => {
  const few = count <= FEW
  const step = few ? Math.ceil((count * LABEL_WIDTH) / width) : width < 480 ? 14 : 7
  const last = few ? count - 1 : count - 2
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, place) => last - place * step).toReversed()
}
