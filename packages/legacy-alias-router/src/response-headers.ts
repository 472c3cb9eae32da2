import type { HeaderField } from '@gatewright/kernel'
import { isDeprecated, type MatchedAlias } from './table.ts'

const NO_HEADERS: readonly HeaderField[] = Object.freeze([])

/**
 * Makes the header fields of a response to a request that used these old names. Send them with errors too. `Deprecation` is
 * the earliest date of the deprecated names, as a structured field (`@` and seconds, RFC 9745 section 2.1). `Sunset` is the
 * earliest sunset (RFC 8594 section 3). `Link` has the current path and the pages to read. Receivers need not act on them.
 */
export function responseHeaders(used: readonly MatchedAlias[]): readonly HeaderField[] {
  let deprecatedSince = Infinity
  let sunset = Infinity
  const links = new Set<string>()
  for (const { alias, successor } of used) {
    if (!isDeprecated(alias.mode)) continue
    deprecatedSince = Math.min(deprecatedSince, alias.mode.deprecatedSince)
    sunset = Math.min(sunset, alias.mode.sunset ?? Infinity)
    if (successor !== undefined) links.add(`<${successor}>; rel="successor-version"`)
    if (alias.mode.link !== undefined) links.add(`<${alias.mode.link}>; rel="deprecation"`)
  }
  if (deprecatedSince === Infinity) return NO_HEADERS
  const headers: HeaderField[] = [['Deprecation', `@${Math.floor(deprecatedSince / 1000)}`]]
  if (sunset !== Infinity) headers.push(['Sunset', new Date(sunset).toUTCString()])
  if (links.size > 0) headers.push(['Link', [...links].join(', ')])
  return headers
}
