import { errorSections } from './errors.ts'
import { escapeText } from './escape.ts'

/** The facts about a host in its documents. Scripts of pages read them as JSON; none is secret. */
export interface HostFacts {
  readonly environment: 'sandbox' | 'live'
  readonly serviceName: string
  /** The origin that signed texts name. */
  readonly origin: string
  /** Scopes that a user key can have. */
  readonly scopes: readonly string[]
  /** Whether the host serves this page. */
  readonly pages: { readonly helper: boolean; readonly docs: boolean }
  /** The version of the host and when its process started. In a sandbox only: nobody else needs them. */
  readonly process?: { readonly version: string; readonly startedAt: string }
}

/** Where a page is. */
export interface PageAddress {
  /** Undefined: the page for an address that neither a page nor an operation has. */
  readonly path: string | undefined
  /** Absent: the public listener serves it. */
  readonly listener?: 'operator'
}

const SANDBOX_BAR =
  '<aside class="sandbox-bar" aria-label="Sandbox"><strong>Sandbox</strong> Play money only.</aside>'

/**
 * Makes the header of a page: the name of the service, links to the pages that the host serves, and its status, which a script fills
 * in. A page of another listener links to the origin of the host.
 */
function navigation(
  { serviceName, pages, origin }: HostFacts,
  { path: current, listener }: PageAddress,
): string {
  const base = listener === 'operator' ? escapeText(origin) : ''
  const links = [
    [`${base}/`, 'Home', pages.helper || pages.docs],
    [`${base}/helper`, 'Console', pages.helper],
    [`${base}/docs`, 'API', pages.docs],
    ['/operator', 'Operator', listener === 'operator'],
  ] as const
  const served = links
    .filter(([, , isServed]) => isServed)
    .map(([path, label]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${label}</a>`)
  const status = `<a href="${base}/readyz" class="state" id="status" hidden></a>`
  const brand = `<a class="brand" href="${base}/">${escapeText(serviceName)}</a>`
  return `<nav class="frame-header" aria-label="Pages">${brand}<span class="frame-links">${served.join('')}${status}</span></nav>`
}

/** Inserts the facts about the host into the document of a page. */
export function fillDocument(template: string, facts: HostFacts, page: PageAddress): string {
  // Functions, so that `$&` in a service name stays as it is.
  const filled: Readonly<Record<string, () => string>> = {
    '{{service}}': () => escapeText(facts.serviceName),
    '{{environment}}': () => facts.environment,
    '{{origin}}': () => escapeText(facts.origin),
    '{{helper-page}}': () => (facts.pages.helper ? 'on' : 'off'),
    '{{docs-page}}': () => (facts.pages.docs ? 'on' : 'off'),
    '{{errors}}': errorSections,
    '{{navigation}}': () => navigation(facts, page),
    '{{sandbox-bar}}': () => (facts.environment === 'sandbox' ? SANDBOX_BAR : ''),
    '{{host}}': () => JSON.stringify(facts).replaceAll('<', '\\u003c'),
  }
  return template.replaceAll(/\{\{[a-z-]+\}\}/g, name => filled[name]?.() ?? name)
}
