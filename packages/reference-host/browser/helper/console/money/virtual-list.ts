import { el } from '../../../shared/dom.ts'

/** A long list. Only its visible rows are in the document. */
export interface VirtualList {
  readonly element: HTMLElement
  /** Draws again after the number of rows has changed. */
  update(): void
}

interface VirtualOptions {
  readonly label: string
  /** Names of the columns. */
  readonly columns: readonly string[]
  /** How many rows there are so far, and whether there are no more. */
  readonly count: () => number
  readonly complete: () => boolean
  /** Makes an empty row, and fills it for an index. A row is reused many times. */
  readonly make: () => HTMLElement
  readonly fill: (row: HTMLElement, place: number) => void
  /** Called when the last of the rows become visible. */
  readonly nearEnd: () => void
}

/** Height of a row in CSS pixels, as console.css has it: wide and narrow. */
const ROW_HEIGHTS = [60, 88] as const
const NARROW = '(max-width: 40rem)'
/** How many rows above and below the visible ones are drawn, so that a quick scroll shows no gap. */
const MARGIN = 12
/** How many rows before the end `nearEnd` is called. */
const AHEAD = 40

/** Makes a virtual list. Its rows are reused, so that scrolling makes no elements. */
export function virtualList(options: VirtualOptions): VirtualList {
  const narrow = matchMedia(NARROW)
  const rows: HTMLElement[] = []
  const spacer = el('div', { class: 'virtual-space', role: 'rowgroup' })
  const scroller = el(
    'div',
    { class: 'virtual', role: 'table', tabindex: 0, 'aria-label': options.label },
    spacer,
  )
  scroller.prepend(headOf(options.columns))
  let asked = false

  const draw = (): void => {
    asked = false
    const height = narrow.matches ? ROW_HEIGHTS[1] : ROW_HEIGHTS[0]
    const count = options.count()
    spacer.style.blockSize = `${count * height}px`
    scroller.style.setProperty('--rows', `${count * height}px`)
    scroller.setAttribute('aria-rowcount', String(options.complete() ? count + 1 : -1))
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - MARGIN)
    const inSight = Math.ceil(scroller.clientHeight / height) + 2 * MARGIN
    const last = Math.min(count, first + inSight)
    place(first, last, height)
    if (!options.complete() && last > count - AHEAD) options.nearEnd()
  }
  const place = (first: number, last: number, height: number): void => {
    while (rows.length < last - first) {
      const row = options.make()
      row.setAttribute('role', 'row')
      rows.push(row)
      spacer.append(row)
    }
    while (rows.length > last - first) rows.pop()?.remove()
    // Each index always has the same row element, so that scrolling by one row fills one row.
    for (let at = first; at < last; at++) {
      const row = rows[at % rows.length] as HTMLElement
      if (row.dataset['place'] !== String(at)) {
        row.dataset['place'] = String(at)
        row.setAttribute('aria-rowindex', String(at + 2))
        options.fill(row, at)
      }
      row.style.transform = `translateY(${at * height}px)`
    }
  }
  const later = (): void => {
    if (!asked) requestAnimationFrame(draw)
    asked = true
  }
  scroller.addEventListener('scroll', later, { passive: true })
  new ResizeObserver(later).observe(scroller)
  const update = (): void => {
    for (const row of rows) delete row.dataset['place']
    later()
  }
  return { element: scroller, update }
}

function headOf(columns: readonly string[]): HTMLElement {
  const cells = columns.map(name => el('span', { role: 'columnheader' }, name))
  return el(
    'div',
    { role: 'rowgroup' },
    el('div', { role: 'row', class: 'virtual-head', 'aria-rowindex': 1 }, ...cells),
  )
}
