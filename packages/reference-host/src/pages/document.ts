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
}

const SANDBOX_BAR =
  '<aside class="sandbox-bar" aria-label="Sandbox"><strong>Sandbox</strong> Play money only.</aside>'

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Inserts the facts about the host into the document of a page. */
export function fillDocument(template: string, facts: HostFacts): string {
  // A function as replacement, so that `A function as replacement: `$&` in a service name stays as it is.` in a service name is
  // not interpreted.
  const filled: Readonly<Record<string, () => string>> = {
    '{{service}}': () => escapeText(facts.serviceName),
    '{{environment}}': () => facts.environment,
    '{{origin}}': () => escapeText(facts.origin),
    '{{helper-page}}': () => (facts.pages.helper ? 'on' : 'off'),
    '{{docs-page}}': () => (facts.pages.docs ? 'on' : 'off'),
    '{{sandbox-bar}}': () => (facts.environment === 'sandbox' ? SANDBOX_BAR : ''),
    '{{host}}': () => JSON.stringify(facts).replaceAll('<', '\\u003c'),
  }
  return template.replaceAll(/\{\{[a-z-]+\}\}/g, name => filled[name]?.() ?? name)
}
