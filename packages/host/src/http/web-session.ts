import type { EpochMs, Verdict } from '@gatewright/kernel'

/** Who signed in on the web: what a web token carries. */
export interface WebSession {
  readonly sessionId: string
  readonly accountId: string
  readonly userId: string
  /** The wallet that signed, in lower case. */
  readonly address: string
  readonly connector: string | null
  readonly chainId: number | null
  readonly walletLabel: string | null
  readonly expiresAt: EpochMs
}

/** A caller with a web token. */
export interface WebCaller {
  readonly webSession: WebSession
}

/** Web tokens: texts that a wallet gets for a sign-in. They are no sessions of the API, and make one key. */
export interface WebTokens {
  /** Makes the token of a session. It is not stored. */
  mint(session: WebSession): string
  /** Reads a token; undefined if this host did not make it. An expired one is read too. */
  read(token: string): WebSession | undefined
  /** Checks a token as a credential. Denial: `unauthorized`, one for every cause. */
  authenticate(token: string): Verdict<WebCaller>
  /** Uses a token up. Of any number of simultaneous calls one is allowed. Denial: that of `authenticate`. */
  claim(session: WebSession): Promise<Verdict<undefined>>
}

/** A sealed text has one dot, a session token two, an API key none. */
const BEARER = /^bearer ([\w-]+\.[\w-]+)$/i

/** The web token in a request's `Authorization`, recognized by its text. */
export function bearerWebToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}
