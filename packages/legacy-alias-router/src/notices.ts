import type { HeaderField } from '@gatewright/kernel'
import { isDeprecated, type AliasUse, type Deprecated } from './table.ts'

const NO_FIELDS: readonly HeaderField[] = Object.freeze([])

/** The dates of a mode as fields. Made once: requests in old names come by the thousand from the same few rows. */
const dates = new WeakMap<Deprecated, readonly HeaderField[]>()

function dateFields(mode: Deprecated): readonly HeaderField[] {
  const known = dates.get(mode)
  if (known) return known
  const { deprecatedSince, sunset } = mode
  const since: HeaderField = ['Deprecation', `@${Math.floor(deprecatedSince / 1000)}`]
  const fields = sunset === undefined ? [since] : [since, ['Sunset', new Date(sunset).toUTCString()] as const]
  dates.set(mode, fields)
  return fields
}

const successorLink = (path: string): string => `<${path}>; rel="successor-version"`
const pageLink = (url: string): string => `<${url}>; rel="deprecation"`

function noticesOf(mode: Deprecated, successor: string | undefined): readonly HeaderField[] {
  const fields = dateFields(mode)
  const { link } = mode
  if (successor === undefined) return link === undefined ? fields : [...fields, ['Link', pageLink(link)]]
  const links =
    link === undefined ? successorLink(successor) : `${successorLink(successor)}, ${pageLink(link)}`
  return [...fields, ['Link', links]]
}

/**
 * The fields that every answer to a call in old names carries, errors included. `Deprecation` is the oldest date
 * of the deprecated names used, as a structured field (`@` and seconds, RFC 9745 section 2.1); `Sunset` the nearest
 * one (RFC 8594 section 3); `Link` leads to the current path and to what people should read. The server sends them,
 * nothing binds the receiver.
 */
export function answerHeaders(used: readonly AliasUse[]): readonly HeaderField[] {
  if (used.length === 0) return NO_FIELDS
  const first = used[0]
  if (first && used.length === 1) {
    return isDeprecated(first.alias.mode) ? noticesOf(first.alias.mode, first.successor) : NO_FIELDS
  }
  let deprecatedSince = Infinity
  let sunset = Infinity
  const links = new Set<string>()
  for (const { alias, successor } of used) {
    if (!isDeprecated(alias.mode)) continue
    deprecatedSince = Math.min(deprecatedSince, alias.mode.deprecatedSince)
    sunset = Math.min(sunset, alias.mode.sunset ?? Infinity)
    if (successor !== undefined) links.add(successorLink(successor))
    if (alias.mode.link !== undefined) links.add(pageLink(alias.mode.link))
  }
  if (deprecatedSince === Infinity) return NO_FIELDS
  const fields = dateFields(sunset === Infinity ? { deprecatedSince } : { deprecatedSince, sunset })
  return links.size === 0 ? fields : [...fields, ['Link', [...links].join(', ')]]
}
