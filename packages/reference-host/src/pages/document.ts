/** The facts about a host in its documents. Scripts of pages read them as JSON; none is secret. */
export interface HostFacts {
  readonly environment: 'sandbox' | 'live'
  readonly serviceName: string
  /** The origin that signed texts name. */
  readonly origin: string
  /** Scopes that a user key can have. */
  readonly scopes: readonly string[]
  /** Whether the host serves this page. */
  readonly pages: { readonly helper: boolean; readonly docs: boolean; readonly guide: boolean }
  /** The version of the host and when its process started. In a sandbox only: nobody else needs them. */
  readonly process?: { readonly version: string; readonly startedAt: string }
}

const SANDBOX_BAR =
  '<aside class="sandbox-bar" aria-label="Sandbox"><strong>Sandbox</strong> Play money only.</aside>'

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/**
 * Makes the header of a page: the name of the service, links to the pages that the host serves, and its status, which a script fills
 * in. `current` is the path of the page.
 */
function navigation({ serviceName, pages }: HostFacts, current: string | undefined): string {
  const links = [
    ['/', 'Home', true],
    ['/helper', 'Console', pages.helper],
    ['/docs', 'API', pages.docs],
    ['/guide', 'Docs', pages.guide],
  ] as const
  const served = links
    .filter(([, , isServed]) => isServed)
    .map(([path, label]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${label}</a>`)
  const status = '<a href="/readyz" class="state" id="status" hidden></a>'
  const brand = `<a class="brand" href="/">${escapeText(serviceName)}</a>`
  return `<nav class="frame-header" aria-label="Pages">${brand}<span class="frame-links">${served.join('')}${status}</span></nav>`
}

/** Inserts the facts about the host into the document of the page at `path`; without a path, of the page for wrong addresses. */
export function fillDocument(template: string, facts: HostFacts, path: string | undefined): string {
  // Functions, so that `$&` in a service name stays as it is.
  const filled: Readonly<Record<string, () => string>> = {
    '{{service}}': () => escapeText(facts.serviceName),
    '{{environment}}': () => facts.environment,
    '{{origin}}': () => escapeText(facts.origin),
    '{{helper-page}}': () => (facts.pages.helper ? 'on' : 'off'),
    '{{docs-page}}': () => (facts.pages.docs ? 'on' : 'off'),
    '{{guide-page}}': () => (facts.pages.guide ? 'on' : 'off'),
    '{{navigation}}': () => navigation(facts, path),
    '{{sandbox-bar}}': () => (facts.environment === 'sandbox' ? SANDBOX_BAR : ''),
    '{{host}}': () => JSON.stringify(facts).replaceAll('<', '\\u003c'),
  }
  return template.replaceAll(/\{\{[a-z-]+\}\}/g, name => filled[name]?.() ?? name)
}
