import type { KeptRequest } from './figures.ts'

// What the endpoints of `src/operator/find.ts` and `src/operator/account.ts` respond with.

/** What was found for a text: accounts, and requests if it was the id of one. Neither: nothing. */
export interface Found {
  readonly what: 'key' | 'wallet' | 'account' | 'card' | 'transaction' | 'request'
  /** What was looked for, without any secret. */
  readonly id: string
  readonly accounts: readonly FoundAccount[]
  /** Whether there are more accounts than `accounts` lists. */
  readonly more: boolean
  readonly requests: readonly KeptRequest[]
}

/** Whose an account is. */
interface Owner {
  readonly accountId: string
  readonly kind: 'user' | 'partner'
  readonly wallet: string | null
  /** The name of a partner. */
  readonly name: string | null
  readonly partnerId: string | null
  readonly externalId: string | null
  readonly kycStatus: string | null
  readonly frozenAt: string | null
  readonly createdAt: string
}

export type FoundAccount = Owner & {
  /** Its cards among those that were looked for. */
  readonly cards?: readonly { readonly id: string; readonly last4: string; readonly status: string }[]
}

/** An account as an operator sees it in an incident. */
export type Account = Owner & {
  /** Null for the account of a partner. */
  readonly money: {
    readonly availableCents: number
    readonly heldCents: number
    readonly contractsCents: number
  } | null
  readonly keys: readonly AccountKey[]
  readonly moreKeys: boolean
  readonly cards: readonly AccountCard[]
  readonly moreCards: boolean
  readonly sessions: readonly {
    readonly sessionId: string
    readonly keyId: string
    readonly issuedAt: string
    readonly expiresAt: string
  }[]
  readonly liveSessions: number
  readonly refusals: readonly KeptRequest[]
  readonly actions: readonly { readonly at: string; readonly command: string; readonly detail: string }[]
}

export interface AccountKey {
  readonly id: string
  readonly label: string | null
  readonly console: boolean
  readonly surface: 'user' | 'partner'
  readonly state: 'live' | 'paused' | 'held' | 'expired' | 'revoked'
  readonly lineageId: string
  readonly pauses: readonly { readonly lineageId: string; readonly by: 'owner' | 'operator' }[]
  /** Its limits in words; null without any. */
  readonly limits: string | null
  /** Whether its policy allows no operation. */
  readonly allowsNothing: boolean
  readonly lastUsedAt: string | null
}

export interface AccountCard {
  readonly id: string
  readonly last4: string
  readonly status: 'active' | 'locked' | 'not_activated' | 'canceled'
  readonly lockReason: 'user' | 'key_revoked' | null
  readonly limit: { readonly amountCents: number; readonly frequency: string } | null
  /** The key that made it; null: none that is still stored. */
  readonly keyId: string | null
}

/** What ends with a key. Null for the key of a partner: they belong to the accounts of its users. */
export interface KeyEnd {
  readonly below: readonly { readonly id: string; readonly label: string | null }[]
  readonly sessions: number | null
  readonly cards: { readonly count: number; readonly listed: readonly AccountCard[] } | null
  readonly payins: { readonly count: number; readonly cents: number; readonly more: boolean } | null
}
