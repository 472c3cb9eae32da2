import type { Config } from '../config/config.ts'
import type { HostFacts, PageAddress } from './document.ts'
import { homeLinks } from './home.ts'

/** A page for browsers. Its sources are in `browser/<name>`. */
export interface Page extends PageAddress {
  readonly name: string
  /** Whether the host serves it with this configuration. */
  readonly served: (config: Config) => boolean
  /** Directives that replace those of the common content security policy, for a library that needs others. */
  readonly policy?: Readonly<Record<string, string>>
  /** Makes the response for programs that prefer JSON. Default: they get the document. */
  readonly json?: (facts: HostFacts) => object
}

/** The page of the operator listener. */
export const operatorPages: readonly Page[] = [
  {
    name: 'operator',
    path: '/operator',
    listener: 'operator',
    served: ({ operator }) => operator !== undefined,
  },
]

/** Every page of the public listener. */
export const pages: readonly Page[] = [
  {
    name: 'home',
    path: '/',
    served: ({ helperPage, docsPage }) => helperPage || docsPage,
    json: homeLinks,
  },
  {
    name: 'not-found',
    path: undefined,
    served: ({ helperPage, docsPage }) => helperPage || docsPage,
  },
  {
    name: 'errors',
    path: '/errors',
    served: ({ docsPage }) => docsPage,
  },
  { name: 'helper', path: '/helper', served: ({ helperPage }) => helperPage },
  {
    name: 'docs',
    path: '/docs',
    served: ({ docsPage }) => docsPage,
    // Scalar adds inline styles to the document. Vue creates markup under a policy named `vue`. The default policy of the page
    // allows constants only (decision 0048).
    policy: { 'style-src': "'self' 'unsafe-inline'", 'trusted-types': 'vue default' },
  },
]
