/** An icon of the editor's, which marks what can be folded. */
const icon = (path: string): string =>
  `<svg width="1em" height="1em" viewBox="0 0 24 24" fill="none" xmlns="http://www.w3.org/2000/svg"><path d="${path}" ` +
  'stroke="currentColor" stroke-width="1" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/** All that the library assigns as markup itself: nothing, and its two icons. Vue's own markup has the policy `vue`. */
const KNOWN = new Set(['', icon('m18 10-6 6-6-6'), icon('m9 18 6-6-6-6')])

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown
}

/**
 * Lets the library assign its own constant markup, and a character reference such as `&amp;`, which it decodes so. Every other text
 * that would become markup or script is refused and reported, as without a default policy.
 */
export function trustKnownMarkup(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('default', {
    createHTML: text => (KNOWN.has(text) || /^&[a-zA-Z0-9]{1,40};$/.test(text) ? text : null),
  })
}
