import type { Verdict, EpochMs } from '@gatewright/kernel'

/** The content of a web token: who signed in on the web. */
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

/** Web tokens, which a wallet gets for a sign-in. A web token is not a session of the API; it can create one key. */
export interface WebTokens {
  /** Makes the token of a session. It is not stored. */
  mint(session: WebSession): string
  /** Reads a token, even if it has expired; undefined if this host did not make it. */
  read(token: string): WebSession | undefined
  /** Checks a token as a credential. Denial: `unauthorized`, one for every cause. */
  authenticate(token: string): Verdict<WebCaller>
  /** Uses a token up. Of any number of simultaneous calls, one is allowed. Denial: that of `authenticate`. */
  claim(session: WebSession): Promise<Verdict<undefined>>
}

/** Matches a web token: it has one dot, a session token has two, and an API key none. */
const BEARER = /^bearer ([\w-]+\.[\w-]+)$/i

/** Returns the web token in a request's `Authorization`, recognized by its format. */
export function bearerWebToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}
