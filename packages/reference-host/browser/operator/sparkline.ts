const SVG = 'http://www.w3.org/2000/svg'
const WIDTH = 100
const HEIGHT = 24

/**
 * Draws values as a small line without axes. It is hidden from screen readers: the figure beside it says the latest value. `null` leaves
 * a gap; with fewer than two values the place stays empty.
 */
export function sparkline(values: readonly (number | null)[]): SVGElement {
  const image = document.createElementNS(SVG, 'svg')
  image.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`)
  image.setAttribute('preserveAspectRatio', 'none')
  image.setAttribute('class', 'spark')
  image.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(SVG, 'path')
  line.setAttribute('d', pathOf(values))
  image.append(line)
  return image
}

function pathOf(values: readonly (number | null)[]): string {
  if (values.length < 2) return ''
  const most = Math.max(...values.map(value => value ?? 0)) || 1
  const place = (value: number, at: number): string => {
    const x = (at / (values.length - 1)) * WIDTH
    const y = HEIGHT - 1 - (value / most) * (HEIGHT - 2)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  return values
    .flatMap((value, at) => {
      if (value === null) return []
      const before = values[at - 1]
      return [`${typeof before === 'number' ? 'L' : 'M'}${place(value, at)}`]
    })
    .join('')
}
