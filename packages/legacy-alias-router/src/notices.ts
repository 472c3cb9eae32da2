import { isDeprecated, type AliasUse } from './table.ts'

/** A header field of an answer. */
export type HeaderField = readonly [name: string, value: string]

/**
 * The fields that every answer to a call in old names carries, errors included. `Deprecation` is the oldest date
 * of the deprecated names used, as a structured field (`@` and seconds, RFC 9745 section 2.1); `Sunset` the nearest
 * one (RFC 8594 section 3); `Link` leads to the current path and to what people should read. The server sends them,
 * nothing binds the receiver.
 */
export function answerHeaders(used: readonly AliasUse[]): readonly HeaderField[] {
  const dates: number[] = []
  const sunsets: number[] = []
  const links = new Set<string>()
  for (const { alias, successor } of used) {
    if (!isDeprecated(alias.mode)) continue
    const { deprecatedSince, sunset, link } = alias.mode
    dates.push(deprecatedSince)
    if (sunset !== undefined) sunsets.push(sunset)
    if (successor !== undefined) links.add(`<${successor}>; rel="successor-version"`)
    if (link !== undefined) links.add(`<${link}>; rel="deprecation"`)
  }
  if (dates.length === 0) return []
  const fields: HeaderField[] = [['Deprecation', `@${Math.floor(Math.min(...dates) / 1000)}`]]
  if (sunsets.length > 0) fields.push(['Sunset', new Date(Math.min(...sunsets)).toUTCString()])
  if (links.size > 0) fields.push(['Link', [...links].join(', ')])
  return fields
}
