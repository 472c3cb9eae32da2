/** One figure over time, with the unit of its values. */
export interface Series {
  readonly name: string
  readonly unit: string
  readonly values: readonly number[]
}

const BARS = '▁▂▃▄▅▆▇█'
const WIDTH = 760
const PANEL_HEIGHT = 120
const TOP = 30
const LEFT = 20
const RIGHT = 20

/** Draws series as lines of text: the least and the greatest value, and a bar for each of at most `width` times. */
export function textPlot(series: readonly Series[], width: number): string {
  return series
    .map(({ name, unit, values }) => {
      const most = Math.max(...values, 1)
      const shown = thinned(values, width)
      const bars = shown.map(value => BARS[Math.round((value / most) * (BARS.length - 1))]).join('')
      return `${name.padEnd(28)} ${range(values, unit).padStart(24)}  ${bars}`
    })
    .join('\n')
}

/** Draws series as panels of an SVG, each from 0 to its greatest value, over so many minutes. */
export function svgPlot(series: readonly Series[], minutes: number): string {
  const height = series.length * PANEL_HEIGHT + TOP
  const panels = series.map((each, at) => panel(each, at * PANEL_HEIGHT))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}">
<style>
text { font: 12px sans-serif; fill: #333 }
path { fill: none; stroke: #7a8ca5; stroke-width: 1.5 }
line { stroke: #ccc }
</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${panels.join('\n')}
<text x="${LEFT}" y="${height - 8}">0</text>
<text x="${WIDTH - RIGHT}" y="${height - 8}" text-anchor="end">${minutes} min</text>
</svg>
`
}

function panel({ name, unit, values }: Series, top: number): string {
  const most = Math.max(...values, 1)
  const plotted = PANEL_HEIGHT - TOP
  const step = (WIDTH - LEFT - RIGHT) / Math.max(values.length - 1, 1)
  const points = values.map(
    (value, at) => `${(LEFT + at * step).toFixed(1)} ${(PANEL_HEIGHT - (plotted * value) / most).toFixed(1)}`,
  )
  return `<g transform="translate(0 ${top})">
<text x="${LEFT}" y="20">${name}: ${range(values, unit)}</text>
<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${PANEL_HEIGHT}" y2="${PANEL_HEIGHT}"/>
<path d="M${points.join('L')}"/>
</g>`
}

function range(values: readonly number[], unit: string): string {
  const digits = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
  return `${digits(Math.min(...values))} to ${digits(Math.max(...values))} ${unit}`
}

/** At most `count` of the values, at even distances. */
function thinned(values: readonly number[], count: number): readonly number[] {
  if (values.length <= count) return values
  return Array.from({ length: count }, (_, at) => values[Math.floor((at * values.length) / count)] as number)
}
