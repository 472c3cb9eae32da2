import type { Verdict, EpochMs } from '@gatewright/kernel'

/** The most that a person lets a key spend, in US cents. An absent amount lowers nothing. */
export interface SpendLimits {
  /** By one operation. */
  readonly maxAuthAmountCents?: number
  /** In a UTC day, withdrawals included. */
  readonly dailySpendCapCents?: number
}

/** What a person approved for the one key of a command line. An absent member was not requested, so it binds nothing. */
export interface ApprovedKey {
  readonly label?: string
  readonly scopes?: readonly string[]
  readonly policy?: object
  /** What the person lowered when approving. Also binds a policy that comes later. */
  readonly lowerTo?: SpendLimits
}

/** For what a web token is used up. */
type WebTokenUse = 'create a key' | 'rotate a key' | 'open a console'

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
  /** Present if a person approved a command line for one key with these rights. The token is then good for nothing else. */
  readonly key?: ApprovedKey
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
  /**
   * Uses a token up. Of any number of simultaneous calls, one is allowed. Denials: that of `authenticate`; `policy_blocked` with the
   * rule `approved_key`, which uses nothing up, for another use than the key that the person approved.
   */
  claim(session: WebSession, use: WebTokenUse): Promise<Verdict<undefined>>
}

/** Matches a web token: it has one dot, a session token has two, and an API key none. */
const BEARER = /^bearer +([\w-]+\.[\w-]+)$/i

/** Returns the web token in a request's `Authorization`, recognized by its format. */
export function bearerWebToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}
