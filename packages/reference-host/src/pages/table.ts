import type { Config } from '../config/config.ts'
import type { HostFacts } from './document.ts'
import { homeLinks } from './home.ts'

/** A page for browsers. Its sources are in `browser/<name>`. */
export interface Page {
  readonly name: string
  readonly path: string
  /** Whether the configuration serves it. */
  readonly served: (config: Config) => boolean
  /** Directives that replace those of the common content security policy, where a library needs others. */
  readonly policy?: Readonly<Record<string, string>>
  /** What programs get that prefer JSON. Default: the document. */
  readonly json?: (facts: HostFacts) => object
}

/** The page of the operator listener. */
export const operatorPages: readonly Page[] = [
  { name: 'operator', path: '/operator', served: ({ operator }) => operator !== undefined },
]

/** Every page of the public listener. */
export const pages: readonly Page[] = [
  {
    name: 'home',
    path: '/',
    served: ({ helperPage, docsPage }) => helperPage || docsPage,
    json: homeLinks,
  },
  { name: 'helper', path: '/helper', served: ({ helperPage }) => helperPage },
  {
    name: 'docs',
    path: '/docs',
    served: ({ docsPage }) => docsPage,
    // Scalar puts its styles into the document, Vue makes markup under a policy of its own name, and the default policy of the page
    // takes constants only (decision 0048).
    policy: { 'style-src': "'self' 'unsafe-inline'", 'trusted-types': 'vue default' },
  },
]
