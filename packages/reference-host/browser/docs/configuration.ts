import { readStoredSession } from '../helper/console/stored-session.ts'
import type { HostFacts } from '../shared/host.ts'

/**
 * Configures the API reference: it loads nothing from other hosts, stores nothing in the browser, and looks like the other
 * pages. If this tab has a console session, its token is filled in: it reads everything and moves no money.
 */
export function configuration(
  { serviceName }: HostFacts,
  description: object,
): Readonly<Record<string, unknown>> {
  const session = readStoredSession()
  const filled = session && { UserSessionBearer: { token: session.sessionToken } }
  return {
    content: description,
    slug: 'api',
    title: serviceName,
    theme: 'none',
    layout: 'modern',
    // No proxy, fonts, telemetry, assistant or editor of Scalar.
    proxyUrl: '',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    // The colour scheme is that of the system, as on the other pages; the choice of a switch would be stored in the browser.
    hideDarkModeToggle: true,
    persistAuth: false,
    // The header of the page already links to the document.
    documentDownloadType: 'none',
    defaultOpenAllTags: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: {
      preferredSecurityScheme: 'UserSessionBearer',
      ...(filled ? { securitySchemes: filled } : {}),
    },
  }
}
