import uPlot from 'uplot'
import { el } from '../shared/dom.ts'
import { timeRange } from './times.ts'

/** One line of a plot. */
interface Line {
  readonly label: string
  /** The CSS custom property of its colour. */
  readonly colour: string
  readonly values: readonly (number | null)[]
  readonly dashed?: boolean
}

/** What a plot shows. */
export interface PlotOptions {
  /** A description of the plot for screen readers. */
  readonly description: string
  /** Instants in seconds. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  /** Title of the vertical axis, with its unit. */
  readonly unit: string
  /** Formats a value with its unit. */
  readonly show: (value: number) => string
  readonly logarithmic?: boolean
  /** Whether the values are counts, so that the axis has whole numbers only. */
  readonly counts?: boolean
}

const HEIGHT = 220
const WHOLE_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap(step => [step, 2 * step, 5 * step])

/**
 * Draws lines over time, with a legend that also shows the values under the pointer or at the time chosen by the arrow keys.
 * The plot always has the width of its container.
 */
export function plot(options: PlotOptions): HTMLElement {
  const { times, lines, description } = options
  const place = el('div', { class: 'plot', tabindex: 0, role: 'group', 'aria-label': description })
  const time = el('span', { class: 'plot-time' })
  const values = lines.map(() => el('span', { class: 'number' }))
  const key = el(
    'div',
    { class: 'plot-key' },
    time,
    ...lines.map(({ label, colour, dashed }, at) =>
      el(
        'span',
        { class: 'plot-label', 'data-colour': colour, 'data-dashed': dashed === true },
        label,
        ' ',
        values[at],
      ),
    ),
  )
  const showValues = (index: number | null): void => {
    const at = index ?? times.length - 1
    time.textContent = times[at] === undefined ? '' : clock(times[at])
    for (const [line, { values: all }] of lines.entries()) {
      const value = all[at]
      const cell = values[line]
      if (cell) cell.textContent = typeof value === 'number' ? options.show(value) : '–'
    }
  }
  showValues(null)
  // The container has no width before it is in the document.
  new ResizeObserver((_, observer) => {
    observer.disconnect()
    if (place.clientWidth > 0) draw(place, options, showValues)
  }).observe(place)
  return el('figure', { class: 'figure' }, key, place)
}

function draw(place: HTMLElement, options: PlotOptions, showValues: (index: number | null) => void): void {
  const { times, lines, unit } = options
  const style = getComputedStyle(place)
  const colour = (name: string): string => style.getPropertyValue(name)
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--border'), width: 1 },
    ticks: { show: false },
  }
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      padding: [12, 24, 0, 0],
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { range: () => timeRange(times) },
        y:
          options.logarithmic === true
            ? { distr: 3 }
            : { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
      },
      axes: [
        {
          ...axis,
          font: FONT,
          label: 'time (UTC)',
          labelFont: FONT,
          labelSize: 20,
          size: 28,
          space: 64,
          values: (_, splits) => splits.map(hour),
        },
        {
          ...axis,
          font: FONT,
          label: unit,
          labelFont: FONT,
          labelSize: 20,
          size: 56,
          ...(options.counts === true ? { incrs: WHOLE_STEPS } : {}),
          values: (_, splits) => splits.map(tick),
        },
      ],
      series: [
        {},
        ...lines.map(line => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 2,
          spanGaps: false,
          ...(line.dashed === true ? { dash: [6, 4] } : {}),
          points: { show: times.length < 30, size: 6, fill: colour(line.colour) },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => showValues(cursor.idx ?? null)] },
    },
    [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData,
    place,
  )
  followWidth(place, chart)
  byArrowKeys(place, chart, times)
}

const FONT = '12px system-ui, sans-serif'

/** Draws the plot again whenever the width of its container changes, until the plot is replaced. */
function followWidth(place: HTMLElement, chart: uPlot): void {
  const observer = new ResizeObserver(() => {
    if (!place.isConnected) {
      observer.disconnect()
      // uPlot keeps every plot that is not destroyed.
      chart.destroy()
    } else if (place.clientWidth > 0) chart.setSize({ width: place.clientWidth, height: HEIGHT })
  })
  observer.observe(place)
}

function byArrowKeys(place: HTMLElement, chart: uPlot, times: readonly number[]): void {
  place.addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const from = chart.cursor.idx ?? times.length
    const at = Math.min(times.length - 1, Math.max(0, from + step))
    chart.setCursor({ left: chart.valToPos(times[at] ?? 0, 'x'), top: HEIGHT / 2 })
  })
}

const hour = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 16)

const clock = (seconds: number): string => `${hour(seconds)} UTC`

const tick = (value: number | null): string => {
  if (value === null) return ''
  return value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)))
}
