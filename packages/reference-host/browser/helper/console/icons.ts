/** The lines of each icon, in a square of 20. */
const PATHS = {
  overview: 'M3 3h6v6H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 11h6v6H3z',
  transactions: 'M4 7h12l-3-3M16 13H4l3 3',
  payins: 'M10 3v9m-4-4 4 4 4-4M3 14v3h14v-3',
  cards: 'M2 5h16v11H2zM2 9h16M5 13h3',
  keys: 'M11 9l6-6m-3 3 2 2m-4 0 1 1M8 8a4 4 0 1 0 3 5 4 4 0 0 0-3-5',
  approvals: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M7 10l2 2 4-4',
  sessions: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14m0 3v4l3 2',
  requests: 'M4 5h12M4 10h12M4 15h7m2 0 2 2 3-4',
  audit: 'M5 3h7l3 3v11H5zM12 3v3h3M8 10h4M8 13h4',
  notifications: 'M5 14V9a5 5 0 0 1 10 0v5l1 1H4zM8 17h4',
  settings: 'M3 6h7m4 0h3M10 4h4v4h-4zM3 14h3m4 0h7M6 12h4v4H6z',
  more: 'M4 6h12M4 10h12M4 14h12',
  close: 'M5 5l10 10M15 5L5 15',
} as const

/** The name of an icon. */
export type IconName = keyof typeof PATHS

const SVG = 'http://www.w3.org/2000/svg'

/** Makes an icon in the colour of the text. It is hidden from screen readers: a text beside it says the same. */
export function icon(name: IconName): SVGElement {
  const image = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATHS[name])
  image.setAttribute('viewBox', '0 0 20 20')
  image.setAttribute('class', 'icon')
  image.setAttribute('aria-hidden', 'true')
  image.append(path)
  return image
}
