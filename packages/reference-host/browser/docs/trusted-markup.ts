/** An icon of the library's editor: it marks what can be folded. */
const icon = (path: string): string =>
  `<svg width="1em" height="1em" viewBox="0 0 24 24" fill="none" xmlns="http://www.w3.org/2000/svg"><path d="${path}" ` +
  'stroke="currentColor" stroke-width="1" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/** All markup that the library assigns without Vue: an empty text and two icons. Vue assigns its markup under the policy `vue`. */
const KNOWN = new Set(['', icon('m18 10-6 6-6-6'), icon('m9 18 6-6-6-6')])

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown
}

/**
 * Lets the library assign its constant markup, and character references such as `&amp;`, which it decodes by assigning them.
 * Every other text that would become markup or script is rejected and reported, as without a default policy.
 */
export function trustKnownMarkup(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('default', {
    createHTML: text => (KNOWN.has(text) || /^&[a-zA-Z0-9]{1,40};$/.test(text) ? text : null),
  })
}
