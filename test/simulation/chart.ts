import { nameOf, type SimulatedPoint } from './points.ts'

interface Bars {
  readonly label: readonly string[]
  readonly measured: number
  readonly simulated: number
}

const WIDTH = 760
const BARS_HEIGHT = 150
const PANEL_HEIGHT = 250

const text = (x: number, y: number, content: string, style = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${style}>${content}</text>`

/** One bar and its value above it. */
function bar(x: number, height: number, value: number, kind: string): string {
  const width = 34
  const y = 40 + BARS_HEIGHT - height
  const rect = `<rect class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width}" height="${height.toFixed(1)}"/>`
  return rect + text(x + width / 2, y - 4, value.toFixed(value < 100 ? 1 : 0))
}

/** Draws measured values beside simulated ones, below a title. */
function panel(title: string, groups: readonly Bars[], top: number): string {
  const most = Math.max(...groups.flatMap(({ measured, simulated }) => [measured, simulated]))
  const step = WIDTH / groups.length
  const drawn = groups.flatMap(({ label, measured, simulated }, at) => {
    const middle = step * (at + 0.5)
    return [
      bar(middle - 35, (BARS_HEIGHT * measured) / most, measured, 'measured'),
      bar(middle + 1, (BARS_HEIGHT * simulated) / most, simulated, 'simulated'),
      ...label.map((line, row) => text(middle, 60 + BARS_HEIGHT + 15 * row, line)),
    ]
  })
  return `<g transform="translate(0 ${top})">\n${[text(20, 20, title, ' class="title"'), ...drawn].join('\n')}\n</g>`
}

/** Draws the points that the simulation must agree with, as an SVG: their throughput and their median times. */
export function pointsChart(points: readonly SimulatedPoint[]): string {
  const barsOf = (figure: 'perSecond' | 'p50', chosen: readonly SimulatedPoint[]): Bars[] =>
    chosen.map(({ point, outcome }) => ({
      label: [nameOf(point.arrivals), point.hosts === 1 ? '1 host' : `${point.hosts} hosts`],
      measured: point[figure],
      simulated: outcome[figure],
    }))
  const byClients = points.filter(({ point }) => 'clients' in point.arrivals)
  const height = 2 * PANEL_HEIGHT
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}">
<style>
text { font: 11px sans-serif; text-anchor: middle; fill: #333 }
text.title { font-size: 14px; text-anchor: start }
.measured { fill: #7a8ca5 }
.simulated { fill: #d08a3c }
</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${panel('Payments a second: measured (grey), simulated (orange)', barsOf('perSecond', byClients), 0)}
${panel('Median time of a payment, in ms', barsOf('p50', points), PANEL_HEIGHT)}
</svg>
`
}
