import { nearestName } from '@gatewright/kernel/internal'

/** A segment of the paths of a host, with the segments that may follow it. */
interface Segment {
  /** The following segments by their text. */
  readonly next: Map<string, Segment>
  /** Finds the nearest text of `next`. Made when all segments are known. */
  nearest(text: string): string | undefined
  /** The following segment that is a parameter, such as `{cardId}`. */
  parameter: readonly [name: string, segment: Segment] | undefined
  isPath: boolean
}

/** The longest path that is compared, in characters. */
const MAX_PATH = 200

const newSegment = (): Segment => ({
  next: new Map(),
  nearest: () => undefined,
  parameter: undefined,
  isPath: false,
})

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
  indexNames(root)
  return path => {
    if (path.length > MAX_PATH) return undefined
    let at: Segment | undefined = root
    let found = ''
    for (const text of withoutSlashesAtEnd(path).split('/').slice(1)) {
      const name: string | undefined = at.next.has(text) ? text : at.nearest(text)
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

function withoutSlashesAtEnd(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** Prepares the search for names in a segment and in all that follow. */
function indexNames(segment: Segment): void {
  segment.nearest = nearestName([...segment.next.keys()])
  for (const next of segment.next.values()) indexNames(next)
  if (segment.parameter) indexNames(segment.parameter[1])
}
