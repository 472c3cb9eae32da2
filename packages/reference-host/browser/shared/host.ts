import { byId } from './dom.ts'

/** Facts about the host, which it writes into the document (`src/pages/document.ts`). */
export interface HostFacts {
  readonly environment: 'sandbox' | 'live'
  readonly serviceName: string
  /** The origin that signed texts name. */
  readonly origin: string
  /** Scopes that a user key can have. */
  readonly scopes: readonly string[]
  /** Whether the host serves this page. */
  readonly pages: { readonly helper: boolean; readonly docs: boolean }
  /** The version of the host and when its process started. In a sandbox only. */
  readonly process?: { readonly version: string; readonly startedAt: string }
}

/** Reads the facts about the host from the document. */
export function readHost(): HostFacts {
  return JSON.parse(byId('host').textContent) as HostFacts
}
