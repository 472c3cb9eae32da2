// The members of the host's responses that the console reads. `/openapi.json` describes all members.
import type { WordedRequest } from '../../shared/request-words.ts'

/** A cap of a key, and how much of it is used. */
export interface Cap {
  readonly policyId: string
  readonly rule: string
  /** The operations of a limit; null: every operation that moves money. */
  readonly operations: readonly string[] | null
  readonly unit: 'cents' | 'count'
  readonly window: 'operation' | 'day' | 'week' | 'month' | '24h' | '7d' | '30d' | 'total'
  readonly cap: number
  /** What is spent or held in the window. */
  readonly used: number
  /** The part of `used` that is held by operations without an outcome. Older hosts do not return it. */
  readonly reserved?: number
  readonly remaining: number
  readonly resetsAt: string | null
  /** Whether it is the cap of a key above. */
  readonly inherited: boolean
}

/** Who created or rotated a key. */
interface KeyMaker {
  readonly keyId: string
  readonly sessionId: string | null
}

/** An API key without its text. */
export interface Key {
  readonly id: string
  /** What people call it. */
  readonly label: string | null
  /** The same for a key and its successors by rotation. */
  readonly lineageId: string
  /** The lineage of the key above it; null for a root. */
  readonly parentLineageId: string | null
  readonly keyPrefix: string
  readonly scopes: readonly string[]
  /** The key's own policies: an object for one, a list for several, or null. */
  readonly policy: unknown
  readonly console: boolean
  readonly createdBy: KeyMaker | null
  readonly rotatedBy: KeyMaker | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** The paused keys at or above it. While there is one, it works nowhere. */
  readonly pauses: readonly { readonly lineageId: string; readonly by: string; readonly at: string }[]
}

/** A payment that waits for the owner of the account, or was approved and not made yet. */
export interface Approval {
  readonly id: string
  readonly state: 'pending' | 'approved'
  /** The key that asks. */
  readonly keyId: string
  readonly operation: string
  /** Whom it would pay, by every name, such as `account:ID`. */
  readonly payee: readonly string[]
  readonly amountCents: number
  readonly currency: string
  readonly requestedAt: string
  readonly expiresAt: string
}

/** A request and what was decided about it. */
export interface KeptRequest extends WordedRequest {
  readonly id: string
  readonly createdAt: string
  readonly method: string
  readonly keyId: string | null
  readonly sessionId: string | null
  readonly message: string | null
  readonly field: string | null
  readonly policyKeyId: string | null
  readonly byTool: boolean
  readonly durationMs: number
}

/** A change of a key, a session or the account. */
export interface AuditRow {
  readonly id: string
  readonly at: string
  /** Which kind of credential did it. */
  readonly by: string
  /** The key that did it, or that of its session. */
  readonly keyId: string | null
  readonly action: string
  /** Who did what, as a sentence. */
  readonly text: string
  /** The id of the key, session or account that it was done to. */
  readonly target: string
}

/** A live session. */
export interface Session {
  readonly sessionId: string
  readonly keyId: string
  readonly scopes: readonly string[]
  readonly label: string | null
  readonly createdAt: string
  readonly expiresAt: string
  readonly current: boolean
}

/** A card without its number. */
export interface Card {
  readonly id: string
  readonly last4: string
  readonly brand: string
  readonly status: string
  readonly limit: { readonly amount: number; readonly frequency: string } | null
  readonly expirationMonth: number
  readonly expirationYear: number
  readonly createdAt: string
  readonly disposable: boolean
  /** The name that a program gave it, encrypted with the key of the account. */
  readonly encryptedName: object | null
  /** What its payments use of the limit in the current window; null without a limit over time. */
  readonly spentCents?: number | null
  /** Why it is locked: `user` or `key_revoked`; null: it is not. */
  readonly lockReason: string | null
  /** The lineage of the key that made it; null: no key made it. */
  readonly keyLineageId: string | null
}

/** A payment by card. */
export interface Authorization {
  readonly id: string
  readonly status: 'authorized' | 'declined' | 'cleared' | 'reversed'
  readonly amountCents: number
  readonly refundedCents: number
  readonly merchant: { readonly name: string }
  readonly declineReason: string | null
  readonly createdAt: string
}

/** A transaction of the account. */
export interface Transaction {
  readonly id: string
  readonly type: string
  readonly status: 'pending' | 'completed' | 'declined' | 'reversed' | 'failed'
  readonly amountCents: number
  readonly direction: 'debit' | 'credit'
  readonly description: string
  readonly merchant: string | null
  readonly merchantDetails: { readonly city: string | null; readonly country: string } | null
  readonly counterparty: { readonly walletAddress: string } | null
  readonly memo: string | null
  readonly cardId: string | null
  /** The key that caused it. */
  readonly keyId: string | null
  readonly createdAt: string
  readonly source: { readonly kind: string; readonly id: string }
}

/** A transaction with what happened to it. */
export interface TransactionDetail extends Transaction {
  readonly history: readonly {
    readonly to: string | null
    readonly cause: string
    readonly amountCents: number | null
    readonly at: string
  }[]
}

/** A pay-in of the account. */
export interface Payin {
  readonly id: string
  readonly status: 'awaiting_payment' | 'confirming' | 'settled' | 'expired' | 'failed' | 'canceled'
  readonly subscriptionId: string | null
  readonly plan: string | null
  /** What it is for, in one line; null: its program did not say. */
  readonly description: string | null
  readonly amountCents: number
  readonly method: 'onchain' | 'balance'
  readonly payTo?: { readonly address: string; readonly asset: string }
  readonly txHash: string | null
  readonly keyId: string | null
  readonly expiresAt: string
  readonly createdAt: string
}

/** A pay-in with its history. */
export interface PayinDetail extends Payin {
  /** The members of its request that the host does not use. */
  readonly properties: Readonly<Record<string, unknown>>
  readonly history: readonly {
    readonly to: string
    readonly cause: string
    readonly detail: string | null
    readonly at: string
  }[]
}

/** A notification of the account. */
export interface Notification {
  readonly id: string
  /** What happened, for programs: such as `card.locked`. */
  readonly kind: string
  /** The key that caused it, or the first key of its lineage. */
  readonly keyId: string | null
  readonly keyLabel: string | null
  readonly title: string
  readonly text: string
  /** The thing that it is about. */
  readonly subject: { readonly kind: string; readonly id: string }
  readonly read: boolean
  readonly createdAt: string
}

/** An onboarding step. */
export interface Step {
  readonly step: string
  readonly status: 'done' | 'open' | 'skipped'
}

/** The status of the identity check. */
export interface Application {
  readonly status: string
  readonly reason: string | null
}

/** A text that people accept before money moves. */
export interface Agreement {
  readonly id: string
  readonly text: string
  readonly links: readonly { readonly label: string; readonly url: string }[]
}

/** The money of the account. */
export interface Balance {
  readonly availableCents: number
  readonly pendingCents: number
  readonly contractsCents: number
}

/** Whether a key is live. */
export function isLive({ revokedAt, expiresAt }: Key, now: number = Date.now()): boolean {
  return revokedAt === null && (expiresAt === null || now < Date.parse(expiresAt))
}
