import type { HostFacts } from '../shared/host.ts'

/** Configures the reference: nothing from elsewhere, nothing kept in the browser, and the looks of the other pages. */
export function configuration(
  { serviceName }: HostFacts,
  description: object,
): Readonly<Record<string, unknown>> {
  return {
    content: description,
    slug: 'api',
    title: serviceName,
    theme: 'none',
    layout: 'modern',
    // No proxy, fonts, telemetry, assistant or editor of the maker's.
    proxyUrl: '',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    // The scheme is that of the system, as on the other pages; a switch would be kept in the browser.
    hideDarkModeToggle: true,
    persistAuth: false,
    // The header of the page links the document.
    documentDownloadType: 'none',
    defaultOpenAllTags: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: { preferredSecurityScheme: 'UserSessionBearer' },
  }
}
