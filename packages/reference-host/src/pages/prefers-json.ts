/**
 * Whether an `Accept` field prefers JSON to HTML (RFC 9110 section 12.5.1). The higher quality wins, then the more specific
 * range, then HTML: browsers and clients that accept everything get the document.
 */
export function prefersJson(accept = ''): boolean {
  const ranges = accept.split(',').map(parseRange)
  const json = rankOf('application/json', ranges)
  const html = rankOf('text/html', ranges)
  if (json.quality !== html.quality) return json.quality > html.quality
  return json.quality > 0 && json.exactness > html.exactness
}

/** Whether an `Accept` field names HTML, as those of browsers do, and prefers it to JSON. */
export function namesHtml(accept = ''): boolean {
  const ranges = accept.split(',').map(parseRange)
  const html = rankOf('text/html', ranges)
  return html.exactness === EXACT && html.quality > rankOf('application/json', ranges).quality
}

interface Range {
  readonly type: string
  readonly quality: number
}

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map(part => part.trim().toLowerCase())
  const given = parameters.find(parameter => /^q\s*=/.test(parameter))?.split('=')[1]
  const quality = given === undefined ? 1 : Number(given)
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The exactness of a range that names a type and subtype. */
const EXACT = 3

/** Returns the quality of a type by its most specific range; 0 if no range matches. */
function rankOf(
  type: string,
  ranges: readonly Range[],
): { readonly quality: number; readonly exactness: number } {
  const names = ['*/*', `${type.split('/')[0]}/*`, type]
  let best = { quality: 0, exactness: 0 }
  for (const { type: name, quality } of ranges) {
    const exactness = names.indexOf(name) + 1
    if (exactness > best.exactness) best = { quality, exactness }
  }
  return best
}
