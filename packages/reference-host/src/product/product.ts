/** Where people find help; null where there is nothing. */
interface Support {
  readonly email: string | null
  readonly url: string | null
  readonly statusUrl: string | null
  readonly hours: string | null
}

/** A notice that is shown from `startsAt` until `endsAt`, RFC 3339. */
interface SpotlightItem {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly url: string | null
  readonly startsAt: string
  readonly endsAt: string
}

/** A text that people accept before they may move money. */
export interface Agreement {
  readonly id: string
  readonly text: string
  readonly links: readonly { readonly label: string; readonly url: string }[]
}

/** Maximum numbers of a product's notices, agreements and links, because responses contain the whole lists. */
export const MAX_NOTICES = 100
export const MAX_AGREEMENTS = 20
export const MAX_LINKS = 20

/** Texts of the product. */
export interface Product {
  readonly support: Support
  readonly spotlight: readonly SpotlightItem[]
  readonly agreements: readonly Agreement[]
}

/** A product without agreements, notices and support. */
export const EMPTY_PRODUCT: Product = {
  support: { email: null, url: null, statusUrl: null, hours: null },
  spotlight: [],
  agreements: [],
}

/** The product of a sandbox without `PRODUCT_FILE`. */
export const SANDBOX_PRODUCT: Product = {
  support: { email: 'support@example.com', url: 'https://example.com/support', statusUrl: null, hours: null },
  spotlight: [
    {
      id: 'welcome',
      title: 'Welcome to the sandbox',
      text: 'Money here is play money.',
      url: null,
      startsAt: '2026-01-01T00:00:00.000Z',
      endsAt: '2100-01-01T00:00:00.000Z',
    },
  ],
  agreements: [
    {
      id: 'terms',
      text: 'I accept the terms of service.',
      links: [{ label: 'Terms of service', url: 'https://example.com/terms' }],
    },
    {
      id: 'privacy',
      text: 'I have read the privacy notice.',
      links: [{ label: 'Privacy notice', url: 'https://example.com/privacy' }],
    },
  ],
}
