import { byId } from './dom.ts'

/** What the document says about its host (`src/pages/document.ts`). */
export interface HostFacts {
  readonly environment: 'sandbox' | 'live'
  readonly serviceName: string
  /** The origin that wallets sign for. */
  readonly origin: string
  /** Scopes that a user key can have. */
  readonly scopes: readonly string[]
  /** Whether the host serves this page. */
  readonly pages: { readonly helper: boolean; readonly docs: boolean }
}

/** Reads what the document says about its host. */
export function readHost(): HostFacts {
  return JSON.parse(byId('host').textContent) as HostFacts
}
