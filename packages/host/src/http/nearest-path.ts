import { nearestName } from '@gatewright/kernel/internal'

/** A segment of the paths of a host, with the segments that may follow it. */
interface Segment {
  /** The following segments by their text. */
  readonly next: Map<string, Segment>
  /** The following segment that is a parameter, such as `{cardId}`. */
  parameter: readonly [name: string, segment: Segment] | undefined
  isPath: boolean
}

/** The longest path that is compared, in characters. */
const MAX_PATH = 200

const newSegment = (): Segment => ({ next: new Map(), parameter: undefined, isPath: false })

/**
 * Makes a function that finds the path which a client probably meant: with the nearest name for each unknown segment, and without a slash
 * at the end. It returns a pattern such as `/user/v1/cards/{cardId}`, or undefined if no path is near.
 */
export function nearestPathOf(patterns: readonly string[]): (path: string) => string | undefined {
  const root = newSegment()
  for (const pattern of patterns) {
    let at = root
    for (const text of pattern.split('/').slice(1)) at = following(at, text)
    at.isPath = true
  }
  return path => {
    if (path.length > MAX_PATH) return undefined
    let at: Segment | undefined = root
    let found = ''
    for (const text of path.replace(/\/+$/, '').split('/').slice(1)) {
      const name: string | undefined = at.next.has(text) ? text : nearestName(text, [...at.next.keys()])
      const [shown, next]: readonly [string, Segment | undefined] =
        name === undefined ? (at.parameter ?? ['', undefined]) : [name, at.next.get(name)]
      if (!next) return undefined
      at = next
      found += `/${shown}`
    }
    return at.isPath && found !== '' ? found : undefined
  }
}

/** Returns the segment that follows another, which it adds if it is new. */
function following(at: Segment, text: string): Segment {
  if (text.startsWith('{')) {
    at.parameter ??= [text, newSegment()]
    return at.parameter[1]
  }
  const known = at.next.get(text) ?? newSegment()
  at.next.set(text, known)
  return known
}
