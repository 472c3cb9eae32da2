// Written by `npm run docs:update` from `/openapi.json?for=sdk` of the reference host.
/** What all its operations together may do in a window */
export interface PolicyLimit {
  /** Ids of operations, such as `payments.create`, or whole tags, such as `payments.*` */
  readonly operations: readonly string[]
  /** Days and months of UTC */
  readonly window: 'operation' | 'day' | 'month' | 'total'
  /** US cents. Either this or `maxCount` */
  readonly maxCents?: number
  /** Calls. Not with the window `operation` */
  readonly maxCount?: number
}

/** Limits on what a key or a session may do: operations, amounts, addresses, times */
export interface Policy {
  /** The most that one operation may move, in US cents */
  readonly maxAuthAmountCents?: number
  /** The most that may move in a UTC day, withdrawals included, in US cents */
  readonly dailySpendCapCents?: number
  /** The most that withdrawals may move in a UTC day, in US cents */
  readonly dailyWithdrawalCapCents?: number
  /** `false` forbids operations that show card secrets */
  readonly allowCardSecrets?: boolean
  /** Forbids calls before this time (RFC 3339) */
  readonly notBefore?: string
  /** Forbids calls from this time on (RFC 3339) */
  readonly notAfter?: string
  /** Ids of operations, or whole tags, that are forbidden */
  readonly denyOperations?: readonly string[]
  /** If present, all other operations are forbidden */
  readonly allowOperations?: readonly string[]
  readonly limits?: readonly PolicyLimit[]
  /** Addresses or CIDR blocks. If present, all others are forbidden */
  readonly allowedIps?: readonly string[]
}

/** A signed statement of a wallet, and the requested key and session */
export interface BootstrapRequest {
  /** The address of the wallet, as written in the signed text */
  readonly address?: string
  /** The signature of the text, in hex */
  readonly signature: string
  /** The nonce of the text, usable once */
  readonly nonce?: string
  /** When the text was created, as written there */
  readonly issuedAt?: string
  /** Until when the text is valid, as written there */
  readonly expiresAt?: string
  /** The signed text. Without address, nonce, issuedAt and expiresAt, they are read from it */
  readonly message?: string
  /** Names the template of the text, so that no other is tried */
  readonly template?: string
  readonly connector?: string | null
  /** The EIP-155 number of the chain that the wallet is on */
  readonly chainId?: number
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly walletLabel?: string
  /** What people call the key, in one line. Lists, the audit log and notices show it: no secret. Null: no label */
  readonly keyLabel?: string | null
  /** Names of scopes. Retired ones are ignored */
  readonly scopes?: readonly string[]
  /** Names of scopes. Retired ones are ignored */
  readonly sessionScopes?: readonly string[]
  /** How long the session works. Default: 900 */
  readonly sessionTtlSeconds?: number
  readonly policy?: Policy
  readonly sessionPolicy?: Policy
}

/** Why a request failed. Some codes add members, such as `scope` or `limit` */
export interface Error {
  /** The code, for programs. It does not change */
  readonly error: string
  /** What was wrong, for people. It may change */
  readonly message: string
  /** The member, parameter or header field that was wrong */
  readonly field?: string
  /** The `X-Request-Id`. Absent where an idempotency key stores the error */
  readonly requestId?: string
  /** A page that explains the code */
  readonly docs?: string
}

/** The first key of a wallet and a session. The key is shown only once */
export interface Bootstrapped {
  /** The key: a secret that is shown only once */
  readonly userApiKey: string
  /** The id of the key */
  readonly userKeyId: string
  /** The first characters of the key, to tell keys apart */
  readonly keyPrefix: string
  /** The bearer token: a secret */
  readonly sessionToken: string
  /** The id of the session */
  readonly sessionId: string
  /** When the token stops working */
  readonly expiresAt: string
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** Requested scopes that are retired. They grant nothing */
  readonly ignoredScopes?: readonly string[]
  /** The wallet that signed, in lower case */
  readonly walletAddress: string
  /** The user of the wallet */
  readonly userId: string | null
}

/** A wallet that wants to sign in; `requestId` and `code` for a command line */
export interface ChallengeRequest {
  /** The address of the wallet: 0x and 40 hex digits */
  readonly address: string
  readonly connector?: string | null
  readonly walletLabel?: string | null
  readonly chainId?: number | string | null
  /** From the link that the terminal shows. A request token is taken in its place */
  readonly requestId?: string
  /** The code that the terminal shows, as the person typed it */
  readonly code?: string
}

/** A text for the wallet to sign */
export interface Challenge {
  /** The nonce of the text, usable once */
  readonly nonce: string
  /** The text to sign (EIP-4361), with `personal_sign` */
  readonly message: string
  /** Always true: the text follows EIP-4361 */
  readonly siwe: boolean
  /** When the text expires */
  readonly expiresAt: string
  /** Goes back with the signature, unchanged */
  readonly challengeToken: string
}

/** A signed challenge */
export interface LoginRequest {
  /** The address of the wallet: 0x and 40 hex digits */
  readonly address: string
  /** As answered with the challenge */
  readonly nonce: string
  /** As answered with the challenge */
  readonly challengeToken: string
  /** The signature of the text, in hex */
  readonly signature: string
}

/** A sign-in on the web */
export interface WebSession {
  /** The id of the sign-in */
  readonly sessionId: string
  /** The wallet that signed, in lower case */
  readonly address: string
  /** The user of the wallet */
  readonly userId: string
  /** As sent with the challenge */
  readonly connector: string | null
  /** As sent with the challenge */
  readonly chainId: number | null
  /** As sent with the challenge */
  readonly walletLabel: string | null
  /** When the web token stops working */
  readonly expiresAt: string
  readonly status: 'valid' | 'expired'
}

/** A sign-in, with its web token unless it is for a command line */
export interface SignedIn {
  /** The web token: a secret that makes one key. Not for a sign-in to a CLI */
  readonly token?: string
  readonly session: WebSession
}

/** A web token to look at */
export interface WebTokenRequest {
  /** A web token */
  readonly accessToken: string
}

/** The text is no web token */
export interface NoWebSession {
  readonly status: 'invalid'
}

/** What a web token is worth */
export interface WebTokenState {
  readonly session: WebSession | NoWebSession
}

/** A session for the account console, which can move no money */
export interface ConsoleSession {
  /** The bearer token: a secret, for the memory of one page */
  readonly sessionToken: string
  /** The id of the session */
  readonly sessionId: string
  /** When the token stops working */
  readonly expiresAt: string
  /** What it may be used for */
  readonly scopes: readonly string[]
}

/** A command line that wants to be signed in */
export interface StartCliRequest {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly clientName?: string
}

/** A request of a command line */
export interface CliRequestStarted {
  /** The secret to poll with */
  readonly requestToken: string
  /** For the person to type on the page */
  readonly code: string
  /** The page to open. It holds neither token nor code */
  readonly url: string
  /** When the request ends */
  readonly expiresAt: string
  /** How long to wait between two polls */
  readonly pollIntervalMs: number
}

/** Which request to look at */
export interface PollCliRequest {
  /** From the start */
  readonly requestToken: string
}

/** Pending (202), or completed with the web token, once */
export interface CliRequestPolled {
  readonly status: 'pending' | 'completed'
  /** When a pending request ends */
  readonly expiresAt?: string
  /** The web token: a secret that makes one key. Not for a sign-in to a CLI */
  readonly token?: string
  readonly session?: WebSession
}

/** Which request to show */
export interface InspectCliRequest {
  /** From the link that the terminal shows. A request token is taken in its place */
  readonly requestId: string
}

/** Who asks to be signed in */
export interface CliRequest {
  /** The name that the command line gave itself, which nobody has verified */
  readonly clientName: string | null
  /** The address that the request came from */
  readonly clientAddress: string
  /** When it was started */
  readonly startedAt: string
  /** When it ends */
  readonly expiresAt: string
  /** Whether the caller has the same address (IPv6: the same /64) */
  readonly sameNetwork: boolean
}

/** Which request to deny */
export interface DenyCliRequest {
  /** From the link that the terminal shows. A request token is taken in its place */
  readonly requestId: string
  /** The code that the terminal shows, as the person typed it */
  readonly code: string
}

/** A request that was denied */
export interface CliRequestDenied {
  readonly status: 'denied'
}

/** What a new key may do. Default: what the caller may do */
export interface CreateKeyRequest {
  /** What people call the key, in one line. Lists, the audit log and notices show it: no secret. Null: no label */
  readonly label?: string | null
  /** Names of scopes. Retired ones are ignored */
  readonly scopes?: readonly string[]
  readonly policy?: Policy
  /** When the key stops working, in the future. Never later than the key that creates it. Default: never */
  readonly expiresAt?: string
}

/** A new API key with its text, which is shown only once */
export interface NewApiKey {
  /** The key: a secret that is shown only once */
  readonly userApiKey: string
  /** The id of the key */
  readonly userKeyId: string
  /** The first characters of the key, to tell keys apart */
  readonly keyPrefix: string
  /** What people call it */
  readonly label: string | null
  /** The wallet of the account, where it has one */
  readonly walletAddress: string | null
  /** The user that the key acts for */
  readonly userId: string | null
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** Requested scopes that are retired. They grant nothing */
  readonly ignoredScopes?: readonly string[]
}

/** Who created or rotated a key */
export interface KeyMaker {
  /** The key that created or rotated it */
  readonly keyId: string
  /** The session of that key that was used, if any */
  readonly sessionId: string | null
}

/** An API key, without its text */
export interface ApiKey {
  /** The id of the key */
  readonly id: string
  /** The first characters of the key */
  readonly keyPrefix: string
  /** What people call it */
  readonly label: string | null
  /** The same for a key and its successors by rotation */
  readonly lineageId: string
  /** The `lineageId` of the key above it; null for a key with none above */
  readonly parentLineageId: string | null
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** Its own policy: an object, a list of several, or null for none */
  readonly policy: unknown
  /** Whether it is the key of an account console: nobody has its text, and it ends with its session */
  readonly console: boolean
  /** Null for a key that a wallet or the operator created */
  readonly createdBy: KeyMaker | null
  /** Who replaced it by a successor; null if nobody did */
  readonly rotatedBy: KeyMaker | null
  /** When it was created */
  readonly createdAt: string | null
  /** Approximately when it was last used; null: never */
  readonly lastUsedAt: string | null
  /** When it expires; null: never */
  readonly expiresAt: string | null
  /** When it was revoked; null while it works */
  readonly revokedAt: string | null
}

/** A page of API keys, newest first, without their texts. It ends early where their policies would pass 32 KiB */
export interface ApiKeyList {
  readonly keys: readonly ApiKey[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** A cap on a key, and how much of it is used */
export interface KeyCap {
  /** The policy that has the cap */
  readonly policyId: string
  /** The member of the policy */
  readonly rule: string
  /** What a limit counts; null: every operation that moves money */
  readonly operations: readonly string[] | null
  readonly unit: 'cents' | 'count'
  readonly window: 'operation' | 'day' | 'month' | 'total'
  /** The most in one window */
  readonly cap: number
  /** Spent or held in the current window */
  readonly used: number
  /** The part of `used` that operations without an outcome hold */
  readonly reserved: number
  /** What is free */
  readonly remaining: number
  /** When the next window begins; null: never */
  readonly resetsAt: string | null
  /** Whether the cap is that of a key above, which all keys below it share */
  readonly inherited: boolean
}

/** The caps of a key, and how much of each is used */
export interface KeyCaps {
  /** Every cap of its policies, inherited ones included */
  readonly caps: readonly KeyCap[]
}

/** What to change of a key: at least one member. Another policy for a key below replaces its own, and what was used of a cap stays used */
export interface ChangeKeyRequest {
  /** What people call the key, in one line. Lists, the audit log and notices show it: no secret. Null: no label */
  readonly label?: string | null
  /** Names of scopes. Retired ones are ignored */
  readonly scopes?: readonly string[]
  readonly policy?: Policy
  /** `true` revokes the key */
  readonly revoke?: boolean
}

/** How a key is replaced */
export interface RotateKeyRequest {
  /** How long the old key works besides the new one */
  readonly overlapSeconds?: number
}

/** What the session may do. Default: what its parent may do */
export interface CreateSessionRequest {
  /** Names of scopes. Retired ones are ignored */
  readonly scopes?: readonly string[]
  readonly policy?: Policy
  /** How long the session works. Default: 900 */
  readonly ttlSeconds?: number
}

/** A new session with its token */
export interface NewSession {
  /** The bearer token: a secret */
  readonly sessionToken: string
  /** The id of the session */
  readonly sessionId: string
  /** When the token stops working */
  readonly expiresAt: string
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** Requested scopes that are retired. They grant nothing */
  readonly ignoredScopes?: readonly string[]
}

/** A live session, without its token */
export interface Session {
  /** The id of the session */
  readonly sessionId: string
  /** The key that it was minted from */
  readonly keyId: string
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** The label that its creator gave it */
  readonly label: string | null
  /** When it was minted */
  readonly createdAt: string
  /** When its token stops working */
  readonly expiresAt: string
  /** Whether it is the calling one */
  readonly current: boolean
}

/** A page of live sessions, latest end first. It can be short, or empty, before the last one */
export interface SessionList {
  readonly sessions: readonly Session[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** How many sessions and keys have ended */
export interface EndedSessions {
  /** How many sessions have ended */
  readonly ended: number
  /** How many keys were revoked because of `keys=revoke` */
  readonly revokedKeys?: number
}

/** An access request (AuthZEN Authorization API 1.0) */
export type EvaluationRequest = {
  readonly subject: {
    /** `key`, or `session` for that of this request */
    readonly type: string
    /** The id of a key that the caller may list, or of the session */
    readonly id: string
  } & Readonly<Record<string, unknown>>
  readonly action: {
    /** An operation of this host, such as `payments.create` */
    readonly name: string
    readonly properties?: {
      /** What the operation would move. Default: caps are not applied */
      readonly amountCents?: number
      /** Of the amount. Default: `USD` */
      readonly currency?: string
    } & Readonly<Record<string, unknown>>
  } & Readonly<Record<string, unknown>>
  readonly resource: {
    /** `account` */
    readonly type: string
    /** The account of the subject */
    readonly id: string
  } & Readonly<Record<string, unknown>>
  readonly context?: {
    /** The IP address of the client. Default: none, which `allowedIps` block */
    readonly address?: string
  } & Readonly<Record<string, unknown>>
} & Readonly<Record<string, unknown>>

/** A cap on the credential, and how much of it is used */
export interface Cap {
  /** The policy that has the cap */
  readonly policyId: string
  /** The member of the policy */
  readonly rule: string
  /** What a limit counts; null: every operation that moves money */
  readonly operations: readonly string[] | null
  readonly unit: 'cents' | 'count'
  readonly window: 'operation' | 'day' | 'month' | 'total'
  /** The most in one window */
  readonly cap: number
  /** Spent or held in the current window */
  readonly used: number
  /** The part of `used` that operations without an outcome hold */
  readonly reserved: number
  /** What is free */
  readonly remaining: number
  /** When the next window begins; null: never */
  readonly resetsAt: string | null
}

/** What one rule of one policy decides */
export interface EvaluatedRule {
  /** The policy */
  readonly policyId: string
  /** Its member; `currency`: whether money caps can count the currency */
  readonly rule: string
  readonly outcome: 'passes' | 'blocks' | 'skipped'
  /** Whether it is what limits the request: the rule that denies, else the cap with the least left */
  readonly binds: boolean
  /** What the request adds to the cap; null for another rule */
  readonly requested: number | null
  /** The cap; null for another rule */
  readonly cap: Cap | null
}

/** Why */
export interface EvaluationContext {
  /** The reason within this response: `0` */
  readonly id: string
  /** Why not, by language */
  readonly reason_user?: Readonly<Record<string, string>>
  /** The code of the error that the request would get */
  readonly error: string | null
  /** Which policies were applied; null if none were */
  readonly policyRevision: string | null
  /** Every rule of every policy */
  readonly rules: readonly EvaluatedRule[]
}

/** The decision about an access request */
export interface Evaluation {
  /** Whether the subject may do it now */
  readonly decision: boolean
  readonly context: EvaluationContext
}

/** A request and what was decided about it. No body, no path and no credential */
export interface KeptRequest {
  /** The `X-Request-Id` of the response */
  readonly id: string
  /** When the response was sent */
  readonly createdAt: string
  /** The HTTP method */
  readonly method: string
  /** What was requested, such as `cards.create` */
  readonly operation: string
  /** The key that was used, directly or by a session */
  readonly keyId: string | null
  /** The session that was used */
  readonly sessionId: string | null
  /** The status of the response */
  readonly status: number
  /** The code of the error; null for a success */
  readonly error: string | null
  /** The policy rule that blocked the request */
  readonly rule: string | null
  /** What the response said */
  readonly message: string | null
  /** The member of the request that the error names */
  readonly field: string | null
  /** The key whose policy blocked the request: its id before any rotation */
  readonly policyKeyId: string | null
  /** The facts of the error, such as `remaining` and `resetsAt`; null for none */
  readonly details: unknown
  /** Whether the response is that of an earlier request with the same idempotency key */
  readonly replayed: boolean
  /** How long the host worked on it, in ms */
  readonly durationMs: number
}

/** A page of requests, newest first */
export interface KeptRequestList {
  readonly requests: readonly KeptRequest[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** What scopes and policies of the key would decide now, from the address of the caller. Nothing is counted */
export interface DecidedNow {
  /** Whether the key may do it now */
  readonly allowed: boolean
  /** The code of the error that it would get */
  readonly error: string | null
  /** The policy rule that would block it */
  readonly rule: string | null
  /** Why not */
  readonly message: string | null
}

/** A request, and what would be decided about it now */
export interface KeptRequestResponse {
  readonly request: KeptRequest
  /** What would be decided now; null where no key of the user surface was used, or it ended so long ago that it is no longer kept */
  readonly now: DecidedNow | null
}

/** The partner's id of the user to find or create */
export interface ResolveUserRequest {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly userId?: string
  /** The wallet of the user; must be the stored one if there is one */
  readonly walletAddress?: string | null
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly walletLabel?: string
}

/** One reason of an error, as the envelope lists it */
export interface ErrorItem {
  /** The code, for programs. It does not change */
  readonly error: string
  /** What was wrong, for people. It may change */
  readonly message: string
  /** The member, parameter or header field that was wrong */
  readonly field?: string
  /** The same as `error` */
  readonly code: string
}

/** Why a request of the partner surface failed, in the envelope of all answers */
export interface PartnerError {
  /** The code, for programs. It does not change */
  readonly error: string
  /** What was wrong, for people. It may change */
  readonly message: string
  /** The member, parameter or header field that was wrong */
  readonly field?: string
  /** The `X-Request-Id`. Absent where an idempotency key stores the error */
  readonly requestId?: string
  /** A page that explains the code */
  readonly docs?: string
  readonly ok: false
  readonly data: object
  /** The same as `message` */
  readonly summary: string
  readonly errors: readonly ErrorItem[]
}

/** A user of the partner */
export interface User {
  /** The partner's id of the user */
  readonly userId: string
  /** The wallet of the user */
  readonly walletAddress: string | null
  /** The state of the user's identity check */
  readonly kycStatus: string
  /** When the user was created */
  readonly createdAt: string
}

/** For whom the session is, and what it may do */
export interface CreatePartnerSessionRequest {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly userId?: string
  /** The wallet of the user; must be the stored one if there is one */
  readonly walletAddress?: string | null
  /** Names of scopes. Retired ones are ignored */
  readonly scopes: readonly string[]
  /** How long the session works. Default: 900 */
  readonly ttlSeconds?: number
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly sessionLabel?: string
}

/** A new session of one of the partner's users, with its token */
export interface NewPartnerSession {
  /** The bearer token: a secret */
  readonly sessionToken: string
  /** The id of the session */
  readonly sessionId: string
  /** When the token stops working */
  readonly expiresAt: string
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** Requested scopes that are retired. They grant nothing */
  readonly ignoredScopes?: readonly string[]
  /** The user, as the partner names them */
  readonly userId: string
}

/** An ISO 4217 code */
export type Currency = 'USD'

/** What to pay for (a subscription, a plan or an amount into the balance), and how */
export type PayinRequest = {
  /** A subscription of the account */
  readonly subscriptionId?: string
  /** A plan, by its id */
  readonly plan?: string
  /** US cents, where no plan has the price */
  readonly amountCents?: number
  readonly currency?: Currency
  /** How to pay it. Default: onchain */
  readonly method?: 'onchain' | 'balance'
  /** The token to pay with. Default: the first of the chain */
  readonly asset?: string
  /** The chain to pay on. Default: the first that is configured */
  readonly chainId?: number | string
  /** `anywhere` requests a deposit address, to which anybody may send. Default: wallet */
  readonly payFrom?: 'wallet' | 'anywhere'
  /** Kept with the pay-in as it is, like members that the host does not know: all of them at most 4096 bytes as JSON */
  readonly metadata?: Readonly<Record<string, unknown>>
} & Readonly<Record<string, unknown>>

/** The status of a pay-in */
export type PayinStatus = 'awaiting_payment' | 'confirming' | 'settled' | 'expired' | 'failed' | 'canceled'

/** What to send on a chain, and where */
export interface PayTo {
  /** Where to send to */
  readonly address: string
  /** The chain, by its EIP-155 number */
  readonly chainId: number
  /** The contract of the ERC-20 token */
  readonly token: string
  /** The name of the token, such as USDC */
  readonly asset: string
  /** The amount in the token's smallest unit; JSON numbers could not hold it */
  readonly units: string
  /** The wallet that must send; null: anybody may */
  readonly from: string | null
}

/** A requested payment: for a subscription, a plan, or into the balance */
export interface Payin {
  /** The id of the pay-in */
  readonly id: string
  readonly status: PayinStatus
  /** The subscription that it pays for */
  readonly subscriptionId: string | null
  /** The plan that it pays for */
  readonly plan: string | null
  /** The price in cents */
  readonly amountCents: number
  readonly currency: Currency
  /** How it is paid */
  readonly method: 'onchain' | 'balance'
  readonly payTo?: PayTo
  /** The transaction that pays it, once it is known */
  readonly txHash: string | null
  /** The API key that asked for it */
  readonly keyId: string | null
  /** Until when it can be paid */
  readonly expiresAt: string
  /** When it was created */
  readonly createdAt: string
}

/** One pay-in */
export interface PayinResponse {
  readonly payin: Payin
}

/** Which transaction pays which pay-in */
export interface ConfirmPayinRequest {
  /** The pay-in, by its id */
  readonly payinId: string
  /** The hash of the transaction */
  readonly txHash: string
}

/** Which pay-in to pay from the balance */
export interface PayFromBalanceRequest {
  /** The pay-in, by its id */
  readonly payinId: string
}

/** Which plan to subscribe to, and how to pay the first period */
export type CheckoutRequest = {
  /** A plan, by its id */
  readonly plan: string
  readonly currency?: Currency
  /** How to pay it. Default: onchain */
  readonly method?: 'onchain' | 'balance'
  /** The token to pay with. Default: the first of the chain */
  readonly asset?: string
  /** The chain to pay on. Default: the first that is configured */
  readonly chainId?: number | string
  /** `anywhere` requests a deposit address, to which anybody may send. Default: wallet */
  readonly payFrom?: 'wallet' | 'anywhere'
  /** Kept with the pay-in as it is, like members that the host does not know: all of them at most 4096 bytes as JSON */
  readonly metadata?: Readonly<Record<string, unknown>>
} & Readonly<Record<string, unknown>>

/** The length of a period, in calendar months (UTC) */
export type PlanInterval = 'month' | 'year'

/** A subscription of the account to a plan */
export interface Subscription {
  /** The id of the subscription */
  readonly id: string
  /** The plan, by its id */
  readonly plan: string
  /** incomplete: never paid; past_due: the paid time is over */
  readonly status: 'incomplete' | 'active' | 'past_due'
  /** The price of one period in cents */
  readonly amountCents: number
  readonly currency: Currency
  readonly interval: PlanInterval
  /** The end of the paid time; null: never paid */
  readonly paidThrough: string | null
  /** When it was created */
  readonly createdAt: string
  /** When it was canceled: it has no further period */
  readonly canceledAt: string | null
}

/** The new subscription and the pay-in of its first period */
export interface CheckoutResponse {
  readonly subscription: Subscription
  readonly payin: Payin
}

/** A page of subscriptions */
export interface SubscriptionList {
  readonly subscriptions: readonly Subscription[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** A plan to subscribe to */
export interface Plan {
  /** The id of the plan */
  readonly id: string
  /** The price of one period in cents */
  readonly amountCents: number
  readonly currency: Currency
  readonly interval: PlanInterval
  /** One line for people */
  readonly title: string
}

/** A page of plans */
export interface PlanList {
  readonly plans: readonly Plan[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** A page of payins */
export interface PayinList {
  readonly payins: readonly Payin[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** The cause of a move between statuses */
export type PayinCause =
  | 'created'
  | 'submitted'
  | 'seen'
  | 'reorganised'
  | 'paid_on_chain'
  | 'paid_from_balance'
  | 'simulated'
  | 'deadline_passed'
  | 'payment_invalid'
  | 'canceled'

/** A move of a pay-in between two statuses */
export interface PayinMove {
  /** Null for its creation */
  readonly from: PayinStatus | null
  readonly to: PayinStatus
  readonly cause: PayinCause
  /** A transaction or a reason, depending on the cause */
  readonly detail: string | null
  /** When it moved */
  readonly at: string
}

/** A pay-in with its history */
export interface PayinDetail {
  /** The id of the pay-in */
  readonly id: string
  readonly status: PayinStatus
  /** The subscription that it pays for */
  readonly subscriptionId: string | null
  /** The plan that it pays for */
  readonly plan: string | null
  /** The price in cents */
  readonly amountCents: number
  readonly currency: Currency
  /** How it is paid */
  readonly method: 'onchain' | 'balance'
  readonly payTo?: PayTo
  /** The transaction that pays it, once it is known */
  readonly txHash: string | null
  /** The API key that asked for it */
  readonly keyId: string | null
  /** Until when it can be paid */
  readonly expiresAt: string
  /** When it was created */
  readonly createdAt: string
  /** Members of the request that the host does not use, as they came */
  readonly properties: object
  /** Its last 100 moves, oldest first */
  readonly history: readonly PayinMove[]
}

/** A pay-in with its history */
export interface PayinDetailResponse {
  readonly payin: PayinDetail
}

/** A subscription */
export interface SubscriptionResponse {
  readonly subscription: Subscription
}

/** No members */
export type SimulatedPayinPayment = object

/** The money of the account in one currency */
export interface Balance {
  readonly currency: Currency
  /** What can be spent now, in cents */
  readonly availableCents: number
  /** What is promised to merchants and to withdrawals under way */
  readonly pendingCents: number
  /** What is put aside in contracts */
  readonly contractsCents: number
}

/** The balances of the account */
export interface BalanceList {
  readonly balances: readonly Balance[]
}

/** The money of the session user, in US cents */
export interface PartnerBalances {
  /** The sum of `spendingPower` and `pendingCharges`, in cents */
  readonly creditLimit: number
  /** What is promised to merchants */
  readonly pendingCharges: number
  /** Always 0: what was charged has left the balance */
  readonly postedCharges: number
  /** Always 0: nothing is owed */
  readonly balanceDue: number
  /** What can be spent now */
  readonly spendingPower: number
}

/** The balances of the session user */
export interface PartnerBalancesResponse {
  readonly balances: PartnerBalances
}

/** The other side of a payment between users */
export interface TransactionCounterparty {
  /** The wallet of the other side */
  readonly walletAddress: string
}

/** What a transaction is about */
export interface TransactionSource {
  /** What kind of thing moved the money */
  readonly kind: string
  /** Names that thing */
  readonly id: string
}

/** What happened to money of the account */
export interface Transaction {
  /** Names the transaction */
  readonly id: string
  /** spend: by card; collateral: deposits, withdrawals, credits and money put aside; payment: payments, bills, pay-ins */
  readonly type: 'spend' | 'collateral' | 'payment' | 'fee'
  readonly status: 'pending' | 'completed' | 'declined' | 'reversed' | 'failed'
  /** US cents, never negative */
  readonly amountCents: number
  readonly currency: Currency
  /** debit: it leaves the balance */
  readonly direction: 'debit' | 'credit'
  /** One line for people */
  readonly description: string
  /** The card that was used */
  readonly cardId: string | null
  /** The API key that caused it; for a payment by card, the key that made the card. Null: nobody used a key for it */
  readonly keyId: string | null
  /** When it was first recorded */
  readonly createdAt: string
  /** When it changed last */
  readonly updatedAt: string
  /** The amount for people, such as $12.34 */
  readonly displayAmount: string
  /** Who was paid by card */
  readonly merchant: string | null
  /** Category code, city and country of the merchant */
  readonly merchantDetails: {
    readonly mcc: string
    readonly city: string | null
    readonly country: string
  } | null
  /** Who paid or was paid; null if it was no user of this host */
  readonly counterparty: TransactionCounterparty | null
  /** What the sender of a payment wrote to its receiver */
  readonly memo: string | null
  readonly source: TransactionSource
}

/** A page of transactions. With several filters it can be short before the last one */
export interface TransactionList {
  readonly transactions: readonly Transaction[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** What happened to money of the session user */
export interface PartnerTransaction {
  /** Names the transaction */
  readonly transactionId: string
  /** spend: by card; collateral: deposits, withdrawals, credits and money put aside; payment: payments, bills, pay-ins */
  readonly type: 'spend' | 'collateral' | 'payment' | 'fee'
  readonly status: 'pending' | 'completed' | 'declined' | 'reversed' | 'failed'
  /** US cents, never negative */
  readonly amountCents: number
  readonly currency: Currency
  /** debit: it leaves the balance */
  readonly direction: 'debit' | 'credit'
  /** One line for people */
  readonly description: string
  /** The card that was used */
  readonly cardId: string | null
  /** The API key that caused it; for a payment by card, the key that made the card. Null: nobody used a key for it */
  readonly keyId: string | null
  /** When it was first recorded */
  readonly createdAt: string
  /** When it changed last */
  readonly updatedAt: string
  /** Who was paid by card */
  readonly merchantName: string | null
}

/** A page of transactions. With several filters it can be short before the last one */
export interface PartnerTransactionList {
  readonly transactions: readonly PartnerTransaction[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** What happened to the payment, pay-in, deposit or other object of a transaction */
export interface TransactionMove {
  /** The state before; null for the first move, and for one that changes no state */
  readonly from: string | null
  /** The state after; null for a move that changes no state */
  readonly to: string | null
  /** Why, in one word, such as `requested` or `cleared` */
  readonly cause: string
  /** The amount of this move, if it has one */
  readonly amountCents: number | null
  /** When it happened */
  readonly at: string
}

/** A transaction and what happened to it */
export interface TransactionDetail {
  /** Names the transaction */
  readonly id: string
  /** spend: by card; collateral: deposits, withdrawals, credits and money put aside; payment: payments, bills, pay-ins */
  readonly type: 'spend' | 'collateral' | 'payment' | 'fee'
  readonly status: 'pending' | 'completed' | 'declined' | 'reversed' | 'failed'
  /** US cents, never negative */
  readonly amountCents: number
  readonly currency: Currency
  /** debit: it leaves the balance */
  readonly direction: 'debit' | 'credit'
  /** One line for people */
  readonly description: string
  /** The card that was used */
  readonly cardId: string | null
  /** The API key that caused it; for a payment by card, the key that made the card. Null: nobody used a key for it */
  readonly keyId: string | null
  /** When it was first recorded */
  readonly createdAt: string
  /** When it changed last */
  readonly updatedAt: string
  /** The amount for people, such as $12.34 */
  readonly displayAmount: string
  /** Who was paid by card */
  readonly merchant: string | null
  /** Category code, city and country of the merchant */
  readonly merchantDetails: {
    readonly mcc: string
    readonly city: string | null
    readonly country: string
  } | null
  /** Who paid or was paid; null if it was no user of this host */
  readonly counterparty: TransactionCounterparty | null
  /** What the sender of a payment wrote to its receiver */
  readonly memo: string | null
  readonly source: TransactionSource
  /** The last moves of what it is about, oldest first. Empty: it was complete at once */
  readonly history: readonly TransactionMove[]
}

/** A transaction and what happened to it */
export interface TransactionResponse {
  readonly transaction: TransactionDetail
}

/** Money that the account has put aside, out of reach of cards and payments */
export interface Contract {
  /** Names the contract */
  readonly id: string
  /** What the account calls it */
  readonly label: string | null
  /** What is put aside in it, in cents */
  readonly balanceCents: number
  /** When it was created */
  readonly createdAt: string
}

/** A page of contracts */
export interface ContractList {
  readonly contracts: readonly Contract[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** What to call the contract. Other members are ignored */
export interface CreateContractRequest {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly label?: string
}

/** A contract */
export interface ContractResponse {
  readonly contract: Contract
}

/** Which money to move between the balance and contracts */
export interface TransferRequest {
  /** US cents */
  readonly amountCents: number
  /** A contract of the account; null: the balance */
  readonly fromContractId: string | null
  /** A contract of the account; null: the balance */
  readonly toContractId: string | null
}

/** Money moved between the balance and contracts of one account */
export interface Transfer {
  /** Names the transfer */
  readonly id: string
  /** Where the money was; null: in the balance */
  readonly fromContractId: string | null
  /** Where the money is now; null: in the balance */
  readonly toContractId: string | null
  /** US cents */
  readonly amountCents: number
  /** When it was moved */
  readonly createdAt: string
}

/** The transfer that was made */
export interface TransferResponse {
  readonly transfer: Transfer
}

/** Who is on the other side */
export interface PaymentCounterparty {
  /** The wallet of the other side */
  readonly walletAddress: string
}

/** A payment between two wallet users. It cannot be taken back */
export interface Payment {
  /** Names the payment, for both sides */
  readonly id: string
  /** debit: sent; credit: received */
  readonly direction: 'debit' | 'credit'
  readonly counterparty: PaymentCounterparty
  /** US cents */
  readonly amountCents: number
  /** What the sender wrote to the receiver */
  readonly memo: string | null
  readonly status: 'completed'
  /** When it was made */
  readonly createdAt: string
}

/** A page of payments */
export interface PaymentList {
  readonly payments: readonly Payment[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** Who receives the payment: a wallet user of this host */
export interface PaymentReceiver {
  /** The wallet of the receiver, not a contract. In mixed case it must have its checksum (EIP-55) */
  readonly walletAddress: string
}

/** Whom to pay, and how much */
export interface PaymentRequest {
  readonly to: PaymentReceiver
  /** US cents */
  readonly amountCents: number
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly memo?: string
}

/** The payment */
export interface PaymentResponse {
  readonly payment: Payment
}

/** What the account notes that it owes */
export interface Bill {
  /** Names the bill */
  readonly id: string
  /** Who is owed */
  readonly payee: string
  /** US cents */
  readonly amountCents: number
  readonly currency: Currency
  /** What the payee wants to read */
  readonly reference: string | null
  readonly status: 'open' | 'paid'
  /** Whether it is open after `dueAt` */
  readonly overdue: boolean
  /** Until when it should be paid */
  readonly dueAt: string
  /** When it was paid */
  readonly paidAt: string | null
  /** When it was noted */
  readonly createdAt: string
}

/** A page of bills */
export interface BillList {
  readonly bills: readonly Bill[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** What is owed, to whom and until when */
export interface BillRequest {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly payee: string
  /** US cents */
  readonly amountCents: number
  /** A UTC timestamp, or a date, which stands for its end in UTC */
  readonly dueAt: string
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly reference?: string
}

/** A bill */
export interface BillResponse {
  readonly bill: Bill
}

/** A token that this host takes or pays */
export interface Token {
  /** The short name of the token */
  readonly symbol: string
  /** The name of the token */
  readonly name: string
  /** The chain, by its EIP-155 number */
  readonly chainId: number | null
  /** The network; `eip155:<chain id>` for a chain without a name here */
  readonly network: string
  /** The token's contract; null for the native coin */
  readonly address: string | null
  /** Digits after the decimal point */
  readonly decimals: number
  /** What it can be used for at this host */
  readonly uses: readonly ('payin' | 'deposit' | 'withdrawal')[]
}

/** A page of the tokens of this host, by network, contract and symbol */
export interface TokenList {
  readonly tokens: readonly Token[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** Who is paid by card */
export interface Merchant {
  /** As the merchant gave it */
  readonly name: string
  /** The merchant category code, 4 digits */
  readonly mcc: string
  /** Null if the merchant gave none */
  readonly city: string | null
  /** Two letters */
  readonly country: string
}

/** One thing that happened to an authorization */
export interface AuthorizationChange {
  /** The status before; null for the first entry */
  readonly from: string | null
  /** The status after */
  readonly to: string
  /** Why, such as `requested`, `incremented`, `cleared`, `excess`, `conflict` or the reason of a decline */
  readonly cause: string
  /** What this entry is about */
  readonly amountCents: number
  /** When */
  readonly at: string
}

/** A payment by card */
export interface Authorization {
  /** The id of the authorization */
  readonly id: string
  /** The card that pays */
  readonly cardId: string
  readonly status: 'authorized' | 'declined' | 'cleared' | 'reversed'
  /** What the merchant asked for, with the increments that were approved */
  readonly amountCents: number
  /** What the merchant received */
  readonly clearedCents: number
  /** What the merchant gave back */
  readonly refundedCents: number
  /** An ISO 4217 code. Only USD is authorized */
  readonly currency: string
  readonly merchant: Merchant
  readonly declineReason:
    | 'currency_not_supported'
    | 'card_canceled'
    | 'card_locked'
    | 'card_not_activated'
    | 'card_expired'
    | 'account_locked'
    | 'card_limit_exceeded'
    | 'policy_blocked'
    | 'insufficient_funds'
    | 'suspected_fraud'
    | 'merchant_blocked'
    | 'unavailable'
    | null
  /** The member of the policy that blocked it, such as `dailySpendCapCents` */
  readonly declineRule: string | null
  /** When it was decided */
  readonly createdAt: string
  /** The last 20 things that happened to it, oldest first */
  readonly history: readonly AuthorizationChange[]
}

/** A page of authorizations */
export interface AuthorizationList {
  readonly authorizations: readonly Authorization[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** A payment by card, as a merchant would request it */
export interface SimulatedAuthorization {
  /** The card that pays */
  readonly cardId: string
  /** US cents */
  readonly amountCents: number
  /** Default USD */
  readonly currency?: string
  readonly merchant?: {
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly name: string
    /** Default 5734 */
    readonly mcc?: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly city?: string
    /** Default US */
    readonly country?: string
  }
}

/** The state of an authorization */
export interface AuthorizationResponse {
  readonly authorization: Authorization
}

/** The amount to clear or to refund. Default: all that is left */
export interface SimulatedAmount {
  /** US cents */
  readonly amountCents?: number
}

/** No members */
export type SimulatedReversal = object

/** How much a card may spend, and how often */
export interface UserCardLimit {
  /** US cents in one period */
  readonly amount: number
  /** How often the limit resets */
  readonly frequency:
    | 'perAuthorization'
    | 'per24HourPeriod'
    | 'per7DayPeriod'
    | 'per30DayPeriod'
    | 'perYearPeriod'
    | 'allTime'
}

/** A text of at most 496 bytes, encrypted with the key of this account: AES-256-GCM */
export interface EncryptedNote {
  readonly v: 1
  /** 12 bytes, base64url. Base64 is read, too */
  readonly iv: string
  /** Ciphertext and tag, base64url without padding. Base64 with padding is read, too */
  readonly ct: string
}

/** A card of the account. The full number is never part of it */
export interface UserCard {
  /** The id of the card */
  readonly id: string
  /** The last four digits of its number */
  readonly last4: string
  readonly brand: 'visa'
  readonly status: 'active' | 'locked' | 'canceled' | 'notActivated'
  /** Null: no limit for this card */
  readonly limit: UserCardLimit | null
  /** 1 to 12 */
  readonly expirationMonth: number
  /** Four digits */
  readonly expirationYear: number
  /** When it was issued */
  readonly createdAt: string
  /** What the client encrypted; the host does not read it */
  readonly encryptedName: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedColor: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedEmoji: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedMemo: EncryptedNote | null
  /** Whether it was made for one purchase */
  readonly disposable: boolean
  /** The folder that it is in */
  readonly folderId: string | null
  /** When it was canceled */
  readonly canceledAt: string | null
  /** `user`, `auto` or `operator` */
  readonly cancelReason: string | null
  /** What its payments use of the limit in the window that ends now. Null: no limit, or one for each payment. Only where cards are read */
  readonly spentCents?: number | null
}

/** Cards that are not canceled */
export interface UserCardList {
  readonly cards: readonly UserCard[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** A card */
export interface UserCardResponse {
  readonly card: UserCard
}

/** How much a card may spend, and how often */
export interface NewUserCardLimit {
  /** US cents in one period */
  readonly amount: number
  /** How often the limit resets */
  readonly frequency?:
    | 'perAuthorization'
    | 'per24HourPeriod'
    | 'per7DayPeriod'
    | 'per30DayPeriod'
    | 'perYearPeriod'
    | 'allTime'
}

/** What to change of a card: at least one member */
export interface ChangeUserCardRequest {
  /** What the client encrypted; the host does not read it */
  readonly encryptedName?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedColor?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedEmoji?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedMemo?: EncryptedNote | null
  /** Null: no limit */
  readonly limit?: NewUserCardLimit | null
  /** The folder; null: none */
  readonly folderId?: string | null
  readonly status?: 'active' | 'locked' | 'canceled' | 'notActivated'
}

/** What the new card is like. Everything is optional */
export interface CreateUserCardRequest {
  /** What the client encrypted; the host does not read it */
  readonly encryptedName?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedColor?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedEmoji?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedMemo?: EncryptedNote | null
  /** Null: no limit */
  readonly limit?: NewUserCardLimit | null
  /** The folder; null: none */
  readonly folderId?: string | null
}

/** Opens what reveals answer */
export interface CardSecretsSession {
  /** For the reveals of the next 5 minutes, with the session that opened it */
  readonly sessionId: string
  /** 32 hexadecimal digits: the AES-128-GCM key of what is revealed. Shown only now */
  readonly secretKey: string
}

/** Opens what reveals answer */
export interface CardSecretsSessionResponse {
  readonly secrets: CardSecretsSession
}

/** Which secrets session opens the answer */
export interface RevealCardRequest {
  /** From `secrets/session` */
  readonly sessionId: string
}

/** A text that the `secretKey` of the secrets session opens: AES-128-GCM */
export interface RevealedText {
  /** 12 bytes, base64 */
  readonly iv: string
  /** Ciphertext and 16-byte tag, base64 */
  readonly data: string
}

/** Number and security code, encrypted */
export interface RevealedCard {
  readonly encryptedPan: RevealedText
  readonly encryptedCvc: RevealedText
}

/** Number and security code, encrypted */
export interface RevealedCardResponse {
  readonly secrets: RevealedCard
}

/** How much a card may spend, and how often */
export interface CardLimit {
  /** US cents in one period */
  readonly amountCents: number
  /** How often the limit resets */
  readonly frequency:
    | 'perAuthorization'
    | 'per24HourPeriod'
    | 'per7DayPeriod'
    | 'per30DayPeriod'
    | 'perYearPeriod'
    | 'allTime'
}

/** A card of the session user. The full number is never part of an answer */
export interface Card {
  /** The id of the card */
  readonly cardId: string
  /** The last four digits of its number */
  readonly last4: string
  readonly brand: 'visa'
  readonly status: 'active' | 'locked' | 'canceled' | 'not_activated'
  /** Null: no limit for this card */
  readonly limit: CardLimit | null
  /** 1 to 12 */
  readonly expirationMonth: number
  /** Four digits */
  readonly expirationYear: number
  /** When it was issued */
  readonly createdAt: string
  /** What the client encrypted; the host does not read it */
  readonly encryptedName: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedColor: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedEmoji: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedMemo: EncryptedNote | null
  /** Kept for existing clients */
  readonly folderId: null
  /** Kept for existing clients */
  readonly contractId: null
  /** Kept for existing clients */
  readonly isPinned: false
  /** Counts the cards of the user in the order of issue */
  readonly sortOrder: number
}

/** A page of cards */
export interface CardList {
  readonly cards: readonly Card[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** How much a card may spend, and how often */
export interface NewCardLimit {
  /** US cents in one period */
  readonly amountCents: number
  /** How often the limit resets */
  readonly frequency?:
    | 'perAuthorization'
    | 'per24HourPeriod'
    | 'per7DayPeriod'
    | 'per30DayPeriod'
    | 'perYearPeriod'
    | 'allTime'
}

/** What to change of a card: at least one member */
export interface ChangeCardRequest {
  /** What the client encrypted; the host does not read it */
  readonly encryptedName?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedColor?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedEmoji?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedMemo?: EncryptedNote | null
  /** Null: no limit */
  readonly limit?: NewCardLimit | null
  readonly status?: 'active' | 'locked' | 'canceled' | 'not_activated'
}

/** What the new card is like. Everything is optional */
export interface CreateCardRequest {
  /** What the client encrypted; the host does not read it */
  readonly encryptedName?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedColor?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedEmoji?: EncryptedNote | null
  /** What the client encrypted; the host does not read it */
  readonly encryptedMemo?: EncryptedNote | null
  /** Null: no limit */
  readonly limit?: NewCardLimit | null
}

/** Opens what reveals answer */
export interface PartnerCardSecretsSession {
  /** For the reveals of the next 5 minutes, with the session that opened it */
  readonly sessionId: string
  /** 32 hexadecimal digits: the AES-128-GCM key of what is revealed. Shown only now */
  readonly secretKey: string
}

/** Number and security code, encrypted */
export interface PartnerRevealedCard {
  readonly encryptedPan: RevealedText
  readonly encryptedCvc: RevealedText
  readonly expirationMonth: number
  readonly expirationYear: number
  /** The last four digits of the number */
  readonly last4: string
  readonly brand: 'visa'
  /** The issuer */
  readonly keyId: string
}

/** What a disposable card is for */
export interface ProposeCardRequest {
  /** US cents */
  readonly amountCents: number
  readonly currency?: Currency
  /** How often the limit resets */
  readonly limitFrequency?:
    | 'perAuthorization'
    | 'per24HourPeriod'
    | 'per7DayPeriod'
    | 'per30DayPeriod'
    | 'perYearPeriod'
    | 'allTime'
  /** Whether its first payment cancels it. Default: only with perAuthorization */
  readonly autoCancelAfterAuth?: boolean
}

/** A card for one purpose: proposed, then executed */
export interface DisposableCard {
  /** Executes the proposal */
  readonly proposalId: string
  readonly status: 'proposed' | 'executed'
  /** The limit of the card, in US cents */
  readonly amountCents: number
  readonly currency: Currency
  /** How often the limit resets */
  readonly limitFrequency:
    | 'perAuthorization'
    | 'per24HourPeriod'
    | 'per7DayPeriod'
    | 'per30DayPeriod'
    | 'perYearPeriod'
    | 'allTime'
  /** Whether its first payment cancels the card */
  readonly autoCancelAfterAuth: boolean
  /** Until when it can be executed */
  readonly expiresAt: string
  /** When it was proposed */
  readonly createdAt: string
  /** When the card was made */
  readonly executedAt?: string
  /** The card, once it is made */
  readonly cardId: string | null
}

/** A proposal */
export interface ProposalResponse {
  readonly disposable: DisposableCard
}

/** Which proposal to make a card of */
export interface ExecuteProposalRequest {
  readonly proposalId: string
  readonly encryptedName?: EncryptedNote
}

/** A disposable card */
export interface ExecutedProposalResponse {
  readonly disposable: DisposableCard
  readonly card: UserCard
}

/** A card that was canceled */
export interface DeletedCard {
  /** The id of the card */
  readonly cardId: string
  readonly status: 'canceled'
  /** When it was canceled */
  readonly deletedAt: string
}

/** A folder for cards */
export interface Folder {
  /** Names the folder */
  readonly id: string
  /** What it is called */
  readonly name: string
  /** When it was made */
  readonly createdAt: string
}

/** A page of folders, oldest first */
export interface FolderList {
  readonly folders: readonly Folder[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** What a folder is called */
export interface FolderRequest {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly name: string
}

/** A folder */
export interface FolderResponse {
  readonly folder: Folder
}

/** A folder that was deleted. Its cards are in no folder now */
export interface DeletedFolder {
  /** Named the folder */
  readonly id: string
  /** When it was deleted */
  readonly deletedAt: string
}

/** An asset, and the networks on which it can be used */
export interface Asset {
  /** Names the asset in requests, as `currency` */
  readonly ticker: string
  /** What people call it */
  readonly name: string
  /** The URL of a picture */
  readonly icon: string | null
  readonly networks: readonly {
    /** Names the network in requests, as `network` */
    readonly id: string
    /** What people call it */
    readonly label: string
    /** EIP-155 chain id */
    readonly chainId: number | null
    /** The contract of the token */
    readonly tokenContract: string | null
    /** Digits after the point */
    readonly decimals: number
    /** Whether a payment can name a memo or tag */
    readonly supportsExtraId: boolean
  }[]
}

/** Assets and their networks */
export interface AssetList {
  readonly assets: readonly Asset[]
}

/** Which asset to send */
export interface DepositRangeRequest {
  /** The ticker of an asset */
  readonly currency: string
  /** The id of a network of the asset */
  readonly network: string
}

/** What can be deposited */
export interface DepositRange {
  /** What is sent */
  readonly fromCurrency: string
  /** The network on which it is sent; `balance` for the balance of the account */
  readonly fromNetwork: string
  /** What arrives */
  readonly toCurrency: string
  /** The network on which it arrives; `balance` for the balance of the account */
  readonly toNetwork: string
  /** Always null; kept for existing clients */
  readonly contractId: null
  /** Always null; kept for existing clients */
  readonly payoutAddress: null
  /** Always null; kept for existing clients */
  readonly payoutChainId: null
  /** The smallest amount of the asset */
  readonly minAmount: string
  /** The largest amount of the asset; null for no limit */
  readonly maxAmount: string | null
}

/** What can be deposited */
export interface DepositRangeResponse {
  readonly range: DepositRange
}

/** How much to send */
export interface DepositEstimateRequest {
  /** The ticker of an asset */
  readonly currency: string
  /** The id of a network of the asset */
  readonly network: string
  /** Units of the asset, such as "25.5"; at most 18 digits after the point */
  readonly amount: string | number
  /** What `amount` counts. Default: crypto */
  readonly amountCurrency?: 'crypto' | 'usd'
}

/** What a payment would credit. The credited cents are those of the payment itself */
export interface DepositEstimate {
  /** What is sent */
  readonly fromCurrency: string
  /** The network on which it is sent; `balance` for the balance of the account */
  readonly fromNetwork: string
  /** What arrives */
  readonly toCurrency: string
  /** The network on which it arrives; `balance` for the balance of the account */
  readonly toNetwork: string
  /** Always null; kept for existing clients */
  readonly contractId: null
  /** Always null; kept for existing clients */
  readonly payoutAddress: null
  /** Always null; kept for existing clients */
  readonly payoutChainId: null
  /** The smallest amount of the asset */
  readonly minAmount: string
  /** The largest amount of the asset; null for no limit */
  readonly maxAmount: string | null
  /** What arrives after the fee */
  readonly estimatedToAmount: string
  /** The fee, in cents */
  readonly feeCents: number
  /** Names the price; null if it has no name */
  readonly rateId: string | null
  /** How long the price holds; null if nobody promises it */
  readonly validUntil: string | null
  /** The amount of the request */
  readonly quotedAmount: string
  readonly quotedAmountCurrency: 'crypto' | 'usd'
}

/** What a payment would credit */
export interface DepositEstimateResponse {
  readonly estimate: DepositEstimate
}

/** How much play money to credit, or what the account is going to send */
export interface SandboxDepositRequest {
  /** Play money to credit, in US cents */
  readonly amountCents?: number
  /** `USD` or none for play money */
  readonly currency?: string
  /** The id of a network of the asset */
  readonly network?: string
  /** Units of the asset, such as "25.5"; at most 18 digits after the point */
  readonly amount?: string | number
}

/** Play money that was credited (sandbox only) */
export interface PlayMoney {
  /** The id of the deposit */
  readonly id: string
  readonly status: 'completed'
  /** What was credited, in cents */
  readonly amountCents: number
  readonly currency: Currency
  /** When it was credited */
  readonly createdAt: string
}

/** A payment that was credited */
export interface DepositPayment {
  /** The provider's id of the payment */
  readonly id: string
  /** What was credited, in cents */
  readonly creditedCents: number
  /** When it was credited */
  readonly at: string
}

/** An address of a provider, and what was paid to it */
export interface Deposit {
  /** The id of the deposit */
  readonly id: string
  /** Always null; kept for existing clients */
  readonly contractId: null
  /** The provider's own id of the deposit */
  readonly changeNowId: string
  /** The asset to send */
  readonly fromCurrency: string
  /** The network to send it on */
  readonly fromNetwork: string
  /** The smallest amount that is credited */
  readonly minAmount: string
  /** The largest amount; null for no limit */
  readonly maxAmount: string | null
  /** Where to send it */
  readonly depositAddress: string
  /** The memo or tag that the payment must name */
  readonly payinExtraId: string | null
  /** EIP-155 chain id */
  readonly chainId: number | null
  readonly status: 'awaitingDeposit' | 'processing' | 'completed' | 'failed'
  /** The sum of all payments, in cents */
  readonly creditedCents: number
  /** The last 20, oldest first */
  readonly payments: readonly DepositPayment[]
  /** When it was made */
  readonly createdAt: string
  /** When its state last changed */
  readonly updatedAt: string
}

/** Play money that was credited, or a deposit that was opened */
export interface SandboxDepositResponse {
  readonly deposit: PlayMoney | Deposit
}

/** A page of deposits, newest first */
export interface DepositList {
  readonly deposits: readonly Deposit[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** A deposit */
export interface DepositResponse {
  readonly deposit: Deposit
}

/** What is paid. Default: the amount of the deposit, else its smallest */
export interface SimulatedPayment {
  /** Units of the asset, such as "25.5"; at most 18 digits after the point */
  readonly amount?: string | number
}

/** What the account is going to send */
export interface DepositRequest {
  /** The ticker of an asset */
  readonly currency: string
  /** The id of a network of the asset */
  readonly network: string
  /** Units of the asset, such as "25.5"; at most 18 digits after the point */
  readonly amount?: string | number
}

/** Which asset to withdraw */
export interface WithdrawalRangeRequest {
  readonly destination: {
    /** The ticker of an asset */
    readonly currency: string
    /** The id of a network of the asset */
    readonly network: string
  }
}

/** What can be withdrawn */
export interface WithdrawalRange {
  /** What is sent */
  readonly fromCurrency: string
  /** The network on which it is sent; `balance` for the balance of the account */
  readonly fromNetwork: string
  /** What arrives */
  readonly toCurrency: string
  /** The network on which it arrives; `balance` for the balance of the account */
  readonly toNetwork: string
  /** Always null; kept for existing clients */
  readonly contractId: null
  /** Always null; kept for existing clients */
  readonly payoutAddress: null
  /** Always null; kept for existing clients */
  readonly payoutChainId: null
  /** The smallest amount of the asset */
  readonly minAmount: string
  /** The largest amount of the asset; null for no limit */
  readonly maxAmount: string | null
  /** The smallest amount, fee included, in cents */
  readonly minAmountCents: number
  /** The largest; null for no limit */
  readonly maxAmountCents: number | null
  /** Whether an address can have a memo or tag */
  readonly destinationSupportsExtraId: boolean
}

/** What can be withdrawn */
export interface WithdrawalRangeResponse {
  readonly range: WithdrawalRange
}

/** How much to withdraw */
export interface WithdrawalEstimateRequest {
  /** US cents, fee included */
  readonly amountCents: number
  readonly destination: {
    /** The ticker of an asset */
    readonly currency: string
    /** The id of a network of the asset */
    readonly network: string
    readonly extraId?: string | null
  }
}

/** What a withdrawal would send */
export interface WithdrawalEstimate {
  /** What is sent */
  readonly fromCurrency: string
  /** The network on which it is sent; `balance` for the balance of the account */
  readonly fromNetwork: string
  /** What arrives */
  readonly toCurrency: string
  /** The network on which it arrives; `balance` for the balance of the account */
  readonly toNetwork: string
  /** Always null; kept for existing clients */
  readonly contractId: null
  /** Always null; kept for existing clients */
  readonly payoutAddress: null
  /** Always null; kept for existing clients */
  readonly payoutChainId: null
  /** The smallest amount of the asset */
  readonly minAmount: string
  /** The largest amount of the asset; null for no limit */
  readonly maxAmount: string | null
  /** What arrives after the fee */
  readonly estimatedToAmount: string
  /** The fee, in cents */
  readonly feeCents: number
  /** Names the price; null if it has no name */
  readonly rateId: string | null
  /** How long the price holds; null if nobody promises it */
  readonly validUntil: string | null
  /** The smallest amount, fee included, in cents */
  readonly minAmountCents: number
  /** The largest; null for no limit */
  readonly maxAmountCents: number | null
  /** Whether an address can have a memo or tag */
  readonly destinationSupportsExtraId: boolean
  /** What leaves the balance, in dollars */
  readonly fromAmount: string
  /** What leaves the balance, in cents */
  readonly fromAmountCents: number
  /** The memo or tag of the request */
  readonly destinationExtraId: string | null
}

/** What a withdrawal would send */
export interface WithdrawalEstimateResponse {
  readonly estimate: WithdrawalEstimate
}

/** Where the money goes */
export interface WithdrawalDestination {
  /** The ticker of an asset */
  readonly currency: string
  /** The id of a network of the asset */
  readonly network: string
  /** The address that receives it */
  readonly address: string
  /** A memo or tag beside the address */
  readonly extraId?: string | null
}

/** How much to send where */
export interface WithdrawalRequest {
  /** What leaves the balance, fee included, in US cents */
  readonly amountCents: number
  readonly destination: WithdrawalDestination
}

/** How the provider sends the money */
export interface WithdrawalRelay {
  /** The provider's own id of the withdrawal */
  readonly changeNowId: string
  /** The address through which the provider sends */
  readonly payinAddress: string | null
  /** Its memo or tag */
  readonly payinExtraId: string | null
  /** The address that receives */
  readonly payoutAddress: string
  /** Its memo or tag */
  readonly payoutExtraId: string | null
  /** What leaves the balance */
  readonly fromCurrency: string
  /** Always `balance` */
  readonly fromNetwork: string
  /** What arrives */
  readonly toCurrency: string
  /** The network on which it arrives */
  readonly toNetwork: string
}

/** Money on its way out of the account */
export interface Withdrawal {
  /** Names the withdrawal */
  readonly id: string
  readonly status: 'pending' | 'ready' | 'completed' | 'failed'
  /** When to ask again; null once it is handed over or has ended */
  readonly retryAfterSeconds: number | null
  /** `outcome_unknown` while nobody knows whether the provider took it */
  readonly attention: string | null
  /** What leaves the balance, fee included, in cents */
  readonly amountCents: number
  /** The fee, in cents */
  readonly feeCents: number
  readonly destination: WithdrawalDestination
  /** Kept for existing clients */
  readonly parameters: readonly unknown[]
  readonly signature: null
  readonly execution: null
  readonly expiresAt: null
  readonly relay: WithdrawalRelay | null
  /** The transaction that paid it */
  readonly txHash: string | null
  /** Why it failed */
  readonly reason: string | null
  /** When it was made */
  readonly createdAt: string
  /** When its state last changed */
  readonly updatedAt: string
}

/** A withdrawal */
export interface WithdrawalResponse {
  readonly withdrawal: Withdrawal
}

/** How much to send where; the destination in one of two forms */
export interface PartnerWithdrawalRequest {
  /** What leaves the balance, fee included, in US cents */
  readonly amountCents: number
  readonly destination?: WithdrawalDestination
  /** With `recipientAddress` and `chainId`: the old form */
  readonly tokenAddress?: string
  /** The address that receives it, in the old form */
  readonly recipientAddress?: string
  /** The chain of `tokenAddress`, in the old form */
  readonly chainId?: number | string
}

/** Money on its way out of the account */
export interface PartnerWithdrawal {
  /** Names the withdrawal */
  readonly id: string
  /** `ready` also when it is completed */
  readonly status: 'pending' | 'ready'
  /** When to ask again; null once it is handed over or has ended */
  readonly retryAfterSeconds: number | null
  /** `outcome_unknown` while nobody knows whether the provider took it */
  readonly attention: string | null
  /** What leaves the balance, fee included, in cents */
  readonly amountCents: number
  /** The fee, in cents */
  readonly feeCents: number
  readonly destination: WithdrawalDestination
  /** Kept for existing clients */
  readonly parameters: readonly unknown[]
  readonly signature: null
  readonly execution: null
  readonly expiresAt: null
  readonly relay: WithdrawalRelay | null
  /** The transaction that paid it */
  readonly txHash: string | null
  /** Why it failed */
  readonly reason: string | null
  /** When it was made */
  readonly createdAt: string
  /** When its state last changed */
  readonly updatedAt: string
  readonly state: 'pending' | 'ready' | 'completed' | 'failed'
  /** Whether this request was a poll of an earlier withdrawal */
  readonly repeated: boolean
}

/** A page of withdrawals, newest first */
export interface WithdrawalList {
  readonly withdrawals: readonly Withdrawal[]
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** The user of the session */
export interface WalletUser {
  /** Names the user in this API */
  readonly id: string
  /** The wallet that the user is known by */
  readonly walletAddress: string | null
  /** What the wallet is called */
  readonly walletLabel: string | null
  /** How the user wants to be called */
  readonly displayName: string | null
  /** Where the user wants to be written to; never the address of an identity check */
  readonly email: string | null
  /** How far the check of the user's identity is */
  readonly kycStatus: string
  /** Whether the agreements are accepted in their current version */
  readonly agreementsAccepted: boolean
  /** When the user was first known */
  readonly createdAt: string
}

/** The user of the session */
export interface WalletUserResponse {
  readonly user: WalletUser
}

/** What to change of the user: at least one member */
export interface ChangeUserRequest {
  /** How the user wants to be called; null: nothing */
  readonly displayName?: string | null
  /** Where the user wants to be written to; null: nowhere */
  readonly email?: string | null
}

/** The user of the session, of a partner */
export interface PartnerUser {
  /** The user, as the partner names them */
  readonly userId: string
  /** The wallet that the user is known by */
  readonly walletAddress: string | null
  /** What the wallet is called */
  readonly walletLabel: string | null
  /** How the user wants to be called */
  readonly displayName: string | null
  /** Where the user wants to be written to; never the address of an identity check */
  readonly email: string | null
  /** How far the check of the user's identity is */
  readonly kycStatus: string
  /** When the user was first known */
  readonly createdAt: string
}

/** A policy that binds the credential, its own or one from above */
export interface BindingPolicy {
  /** Names the policy */
  readonly id: string
  readonly policy: Policy
}

/** What the credential of this request is and may do */
export interface Identity {
  /** The user */
  readonly userId: string
  /** The account that has the money */
  readonly accountId: string
  /** What kind of wallet signed */
  readonly principal: 'eoa' | 'contract'
  /** The wallet that signed, in lower case */
  readonly walletAddress: string | null
  /** What the wallet is called */
  readonly walletLabel: string | null
  /** The chain of a contract wallet */
  readonly chainId: number | null
  /** The key that is used, directly or by a session */
  readonly keyId: string
  /** The session; null where the key itself was sent */
  readonly sessionId: string | null
  /** What it may be used for */
  readonly scopes: readonly string[]
  /** All of them must allow */
  readonly policies: readonly BindingPolicy[]
  /** Every cap of the policies */
  readonly caps: readonly Cap[]
  /** When the credential stops working by itself; null: never */
  readonly expiresAt: string | null
}

/** The credential of this request */
export interface IdentityResponse {
  readonly identity: Identity
}

/** What can be changed of an identity */
export interface ChangeIdentityRequest {
  /** Null: no label */
  readonly walletLabel: string | null
}

/** There is no such response: every request is denied */
export type NoDataKey = object

/** Where people find help; null where there is nothing */
export interface Support {
  /** Where to write to */
  readonly email: string | null
  /** Where to read on */
  readonly url: string | null
  /** Where outages are announced */
  readonly statusUrl: string | null
  /** When somebody is there */
  readonly hours: string | null
}

/** Where to find help, and what to quote there */
export interface SupportResponse {
  readonly support: Support
  readonly environment: 'sandbox' | 'live'
  /** The version of the host */
  readonly version: string
  /** The account */
  readonly accountId: string
}

/** A text, under an id that the answer repeats */
export interface ItemToEncrypt {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly id: string
  /** A text of at most 4096 bytes in UTF-8 */
  readonly value?: unknown
}

/** Texts to encrypt */
export interface EncryptRequest {
  readonly items: readonly ItemToEncrypt[]
}

/** A text encrypted with the key of this account: AES-256-GCM */
export interface EncryptedText {
  readonly v: 1
  /** 12 bytes, base64url. Base64 is read, too */
  readonly iv: string
  /** Ciphertext and tag, base64url without padding. Base64 with padding is read, too */
  readonly ct: string
}

/** An encrypted item */
export interface EncryptedItem {
  /** The id of the item in the request */
  readonly id: string
  readonly ok: true
  readonly encrypted: EncryptedText
}

/** An item that failed. The others are not touched by it */
export interface FailedItem {
  /** The id of the item in the request */
  readonly id: string
  readonly ok: false
  /** Why this item failed */
  readonly error: 'undecryptable' | 'too_long' | 'malformed'
}

/** The outcome of each item, in the order of the request */
export interface EncryptedItems {
  readonly items: readonly (EncryptedItem | FailedItem)[]
}

/** An encrypted text, under an id that the answer repeats */
export interface ItemToDecrypt {
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly id: string
  /** An EncryptedText */
  readonly encrypted?: unknown
}

/** Texts to decrypt */
export interface DecryptRequest {
  readonly items: readonly ItemToDecrypt[]
}

/** A decrypted item */
export interface DecryptedItem {
  /** The id of the item in the request */
  readonly id: string
  readonly ok: true
  /** The text */
  readonly value: string
}

/** The outcome of each item, in the order of the request */
export interface DecryptedItems {
  readonly items: readonly (DecryptedItem | FailedItem)[]
}

/** A text to encrypt */
export interface EncryptValueRequest {
  /** A text of at most 4096 bytes in UTF-8 */
  readonly value: string
}

/** The encrypted text */
export interface EncryptedValue {
  readonly value: EncryptedText
}

/** A text to decrypt */
export interface DecryptValueRequest {
  readonly value: EncryptedText
}

/** The text */
export interface DecryptedValue {
  /** A text of at most 4096 bytes in UTF-8 */
  readonly value: string
}

/** Invitations of the account. Who joined is never answered */
export interface Referral {
  /** The code of this account, for others to apply: six letters */
  readonly code: string
  /** How many accounts have applied it */
  readonly joined: number
  /** The code that this account has applied */
  readonly appliedCode: string | null
}

/** Invitations of the account */
export interface ReferralResponse {
  readonly referral: Referral
}

/** The code of whoever invited */
export interface ApplyReferralRequest {
  /** Six letters in any case */
  readonly code: string
}

/** What a notification is about */
export interface NotificationSubject {
  /** What kind of thing it is about */
  readonly kind: string
  /** Names that thing */
  readonly id: string
}

/** Something that happened to what the account has */
export interface Notification {
  /** Names the notification */
  readonly id: string
  /** What happened, for programs: such as `card.locked` */
  readonly kind: string
  /** A sentence for people. Plain text */
  readonly text: string
  readonly subject: NotificationSubject
  /** The API key that moved the money or revealed the card; null for anything else */
  readonly keyId: string | null
  /** The label that this key has now; null if it has none or is no longer kept */
  readonly keyLabel: string | null
  /** Whether it was marked as read */
  readonly read: boolean
  /** When it was first marked as read */
  readonly readAt: string | null
  /** When it happened */
  readonly createdAt: string
  /** A heading for people */
  readonly title: string
}

/** A page of notifications, newest first */
export interface NotificationList {
  readonly notifications: readonly Notification[]
  /** How many are unread, on all pages */
  readonly unreadCount: number
  /** The `cursor` of the next page; null on the last page */
  readonly nextCursor: string | null
}

/** Whether it was read */
export interface MarkNotificationRequest {
  /** `false` makes it unread again */
  readonly read: boolean
}

/** A notification */
export interface NotificationResponse {
  readonly notification: Notification
}

/** That all were read */
export interface MarkAllNotificationsRequest {
  /** Only `true`: all cannot become unread again */
  readonly read: true
}

/** How many notifications were marked as read */
export interface AllReadResponse {
  /** How many were marked */
  readonly marked: number
  /** How many are unread now */
  readonly unreadCount: number
}

/** What changed */
export interface PartnerEventData {
  /** Names the event. It is also the `webhook-id` of its deliveries */
  readonly eventId: string
  /** The partner's id of the user */
  readonly userId: string
  /** What kind of thing changed */
  readonly object: string
  /** Names that thing */
  readonly id: string
  /** Counts the events of that thing without gaps. The highest number is the latest */
  readonly number: number
  /** The status after the event; null if the event changes none */
  readonly status: string | null
  /** The status before; null for the first event, or if the event changes none */
  readonly previousStatus: string | null
  /** The amount, if there is one */
  readonly amountCents?: number
  /** The currency of the amount */
  readonly currency?: string
}

/** Something that happened to what one of the partner's users has */
export interface PartnerEvent {
  /** What happened: the kind of object, and its new status or the cause, such as `deposit.completed` */
  readonly type: string
  /** When it happened */
  readonly timestamp: string
  readonly data: PartnerEventData
}

/** Events of the partner's users, oldest first. Empty: there are no more now */
export interface PartnerEventList {
  readonly events: readonly PartnerEvent[]
  /** Pass it as `after` to read the events after these */
  readonly nextCursor: string
}

/** A notice of the operator */
export interface SpotlightItem {
  /** Names the notice */
  readonly id: string
  /** What it says. Plain text */
  readonly text: string
  /** Where to read on, https */
  readonly url: string | null
  /** When it is first shown */
  readonly startsAt: string
  /** When it stops being shown */
  readonly endsAt: string
  /** Its heading, one line */
  readonly title: string
}

/** The notices that are shown now, in the order of the operator */
export interface SpotlightList {
  readonly items: readonly SpotlightItem[]
}

/** A field of the application */
export interface KycField {
  /** Name in the body; members of objects with a dot */
  readonly name: string
  readonly required: boolean
  /** JSON type */
  readonly type: string
  readonly minLength?: number
  readonly maxLength?: number
  /** What the text must match */
  readonly regex?: string
  readonly enum?: readonly string[]
  /** What it is */
  readonly description: string
}

/** What an application must say, and the values that it may have */
export interface KycValues {
  readonly fields: readonly KycField[]
  readonly occupations: readonly {
    readonly code: string
    readonly label: string
  }[]
  readonly annualSalary: readonly string[]
  readonly expectedMonthlyVolume: readonly string[]
  readonly accountPurpose: readonly string[]
}

/** Who the person is */
export interface KycRequest {
  /** First name */
  readonly firstName: string
  /** Last name */
  readonly lastName: string
  /** YYYY-MM-DD; 18 to 120 years ago */
  readonly birthDate: string
  /** Country of the identity document, two letters (ISO 3166-1) */
  readonly countryOfIssue: string
  /** E-mail address */
  readonly email: string
  readonly address: {
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly line1: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly line2?: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly city: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly region: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly postalCode: string
    /** Two letters (ISO 3166-1) */
    readonly countryCode: string
  }
  /** A code of `occupations`, or any code of the US Standard Occupational Classification, such as `15-1132` */
  readonly occupation: string
  /** US dollars a year */
  readonly annualSalary:
    | '0-40000'
    | '0–40000'
    | '<40k'
    | '50000-75000'
    | '50000–75000'
    | '50k–99k'
    | '50k-99k'
    | '100000-149000'
    | '100000–149000'
    | '100k–149k'
    | '100k-149k'
    | '150000+'
    | '150k+'
  /** What the account is for */
  readonly accountPurpose: 'everyday spend' | 'subscriptions' | 'business expenses' | 'testing' | 'other'
  /** US dollars a month */
  readonly expectedMonthlyVolume:
    | '0-1000'
    | '0–1000'
    | 'under $1k'
    | '1000-5000'
    | '1000–5000'
    | '$1k–$5k'
    | '$1k-$5k'
    | '5000-20000'
    | '5000–20000'
    | '$5k–$20k'
    | '$5k-$20k'
    | '20000+'
    | '$20k+'
  /** With `phoneNumber`: country code, digits only */
  readonly phoneCountryCode?: string
  /** With `phoneCountryCode`: digits only */
  readonly phoneNumber?: string
  /** Who recommended this; ignored when unknown */
  readonly referralCode?: string
  /** Number of an identity document */
  readonly nationalId?: string
}

/** A page for the person to go on with; `params` belong into its query */
export interface KycLink {
  /** The page */
  readonly url: string
  readonly params: Readonly<Record<string, string>>
}

/** The check of the identity */
export interface KycApplication {
  /** Names the application */
  readonly id: string | null
  readonly status:
    | 'notSubmitted'
    | 'pending'
    | 'approved'
    | 'denied'
    | 'manualReview'
    | 'needsInformation'
    | 'needsVerification'
    | 'locked'
    | 'canceled'
  /** Why, for the person */
  readonly reason: string | null
  /** Where the person completes the application */
  readonly completionLink: KycLink | null
  /** Where the person proves who they are */
  readonly externalVerificationLink: KycLink | null
  /** Whether the identity is approved */
  readonly isActive: boolean
  /** Whether the agreements are accepted in their current version */
  readonly isTermsOfServiceAccepted: boolean
}

/** The check of the identity */
export interface KycResponse {
  readonly application: KycApplication
}

/** What the check comes to */
export interface KycDecision {
  readonly status:
    | 'pending'
    | 'approved'
    | 'denied'
    | 'manualReview'
    | 'manual_review'
    | 'needsInformation'
    | 'needs_information'
    | 'needsVerification'
    | 'needs_verification'
    | 'locked'
    | 'canceled'
  /** Well-formed Unicode in normal form C (NFC) without control characters */
  readonly reason?: string
}

/** Who the person is */
export interface PartnerKycRequest {
  /** First name */
  readonly firstName: string
  /** Last name */
  readonly lastName: string
  /** YYYY-MM-DD; 18 to 120 years ago */
  readonly birthDate: string
  /** Country of the identity document, two letters (ISO 3166-1) */
  readonly countryOfIssue: string
  /** E-mail address */
  readonly email: string
  readonly address: {
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly line1: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly line2?: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly city: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly region: string
    /** Well-formed Unicode in normal form C (NFC) without control characters */
    readonly postalCode: string
    /** Two letters (ISO 3166-1) */
    readonly countryCode: string
  }
  /** A code of `occupations`, or any code of the US Standard Occupational Classification, such as `15-1132` */
  readonly occupation: string
  /** US dollars a year */
  readonly annualSalary:
    | '0-40000'
    | '0–40000'
    | '<40k'
    | '50000-75000'
    | '50000–75000'
    | '50k–99k'
    | '50k-99k'
    | '100000-149000'
    | '100000–149000'
    | '100k–149k'
    | '100k-149k'
    | '150000+'
    | '150k+'
  /** What the account is for */
  readonly accountPurpose: 'everyday spend' | 'subscriptions' | 'business expenses' | 'testing' | 'other'
  /** US dollars a month */
  readonly expectedMonthlyVolume:
    | '0-1000'
    | '0–1000'
    | 'under $1k'
    | '1000-5000'
    | '1000–5000'
    | '$1k–$5k'
    | '$1k-$5k'
    | '5000-20000'
    | '5000–20000'
    | '$5k–$20k'
    | '$5k-$20k'
    | '20000+'
    | '$20k+'
  /** With `phoneNumber`: country code, digits only */
  readonly phoneCountryCode?: string
  /** With `phoneCountryCode`: digits only */
  readonly phoneNumber?: string
  /** Who recommended this; ignored when unknown */
  readonly referralCode?: string
  /** Number of an identity document */
  readonly nationalId: string
}

/** The check of the identity */
export interface PartnerKycApplication {
  /** Names the application */
  readonly id: string | null
  readonly status:
    | 'not_submitted'
    | 'pending'
    | 'approved'
    | 'denied'
    | 'manual_review'
    | 'needs_information'
    | 'needs_verification'
    | 'locked'
    | 'canceled'
  /** Why, for the person */
  readonly reason: string | null
  /** Where the person completes the application */
  readonly completionLink: string | null
  /** Where the person proves who they are */
  readonly externalVerificationLink: string | null
  /** Whether the identity is approved */
  readonly isActive: boolean
  /** Whether the agreements are accepted in their current version */
  readonly isTermsOfServiceAccepted: boolean
}

/** A text that people accept before they may move money */
export interface Agreement {
  /** Names the agreement */
  readonly id: string
  /** What is accepted */
  readonly text: string
  readonly links: readonly {
    readonly label: string
    readonly url: string
  }[]
}

/** What is to be accepted, and whether it is */
export interface AgreementList {
  readonly agreements: readonly Agreement[]
  /** Whether all of them are accepted in their current version */
  readonly accepted: boolean
  /** When they were first accepted */
  readonly acceptedAt: string | null
}

/** Accepts all agreements in their current version */
export interface AcceptRequest {
  /** Must be `true` */
  readonly accepted: boolean
}

/** A step of the way in */
export interface OnboardingStep {
  /** Names the step */
  readonly step: string
  readonly status: 'done' | 'open' | 'skipped'
  /** What does the step */
  readonly operation: string
}

/** The steps of the way in, and which is next */
export interface Onboarding {
  readonly steps: readonly OnboardingStep[]
  /** The first open step */
  readonly next: string | null
}
