// The responses of the operator listener (`src/operator/endpoints.ts`).

/** The outcomes of a request, in the order in which they are shown. */
export const OUTCOMES = ['allowed', 'refused', 'limited', 'failed'] as const
type Outcome = (typeof OUTCOMES)[number]

export interface HostFigures {
  readonly serviceName: string
  readonly environment: 'sandbox' | 'live'
  readonly version: string
  readonly pid: number
  readonly since: string
}

/** Whether the host is ready, the state of each dependency, and how old the revocation feed is. */
export interface HostState {
  /** The host can be ready while a dependency is down that it can do without. */
  readonly ready: boolean
  readonly dependencies: Readonly<Record<string, 'ok' | 'down'>>
  readonly feedAgeSeconds: number | null
}

/** Figures of the requests of an hour. */
export interface HourFigures {
  readonly requestsPerMinute: number
  /** From 0 to 1. */
  readonly refusedShare: number | null
  readonly failed: number
  readonly p99Ms: number | null
}

export interface DecisionFigures {
  /** The latest hour. */
  readonly hour: HourFigures
  /** The same hour a day before; null if this process did not run then. */
  readonly dayBefore: HourFigures | null
  readonly since: string
  readonly slotSeconds: number
  readonly windowSeconds: number
  readonly totals: Readonly<Record<Outcome, number>>
  readonly slots: readonly (Readonly<Record<Outcome, number>> & {
    readonly at: string
    readonly p99Ms: number | null
  })[]
}

export interface RefusalFigures {
  readonly refusals: readonly Refusal[]
}

/** What the operation, the account and the key of a request are called. */
export interface RequestNames {
  readonly operation: string
  /** The title of the operation. */
  readonly title: string
  readonly accountId: string | null
  /** The wallet of the account; null if nobody signed in to it with one. */
  readonly wallet: string | null
  readonly keyId: string | null
  readonly keyLabel: string | null
  /** Whether the key is that of an account console. */
  readonly console: boolean
}

/** One kind of refusal, and how often it happened. */
export interface Refusal extends RequestNames {
  readonly code: string
  readonly rule: string | null
  readonly count: number
  readonly lastAt: string
}

export interface RequestFigures {
  readonly requests: readonly KeptRequest[]
}

/** A request and what was decided about it. */
export interface KeptRequest extends RequestNames {
  readonly id: string
  readonly createdAt: string
  readonly method: string
  readonly credential: string | null
  readonly sessionId: string | null
  readonly status: number
  readonly error: string | null
  readonly rule: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly field: string | null
  readonly policyKeyId: string | null
  readonly details: unknown
  readonly replayed: boolean
  readonly byTool: boolean
  readonly durationMs: number
}

/** The number of rows that need the operator's attention, by kind. */
export interface AttentionFigures {
  readonly attention: Readonly<Record<string, number>>
}

/** Events of providers that could not be applied, the newest first. */
export interface KeptEventFigures {
  readonly events: readonly KeptEvent[]
  /** Whether there are more events than `events` lists. */
  readonly more: boolean
}

export interface KeptEvent {
  readonly id: string
  readonly at: string
  readonly provider: string
  readonly type: string
  readonly reason: 'unknown_object' | 'too_early' | 'conflict'
  /** Null: the event names none. */
  readonly amountCents: number | null
  readonly cardId: string | null
  /** The provider's id of the payment or other object. */
  readonly objectId: string
}

export interface StoreFigures {
  readonly slotSeconds: number
  readonly stores: readonly StoreLatency[]
}

interface StoreLatency {
  readonly name: string
  readonly checks: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly slots: readonly {
    readonly at: string
    readonly p50Ms: number | null
    readonly p99Ms: number | null
  }[]
}

export interface JobFigures {
  readonly kinds: readonly { readonly kind: string; readonly jobs: number; readonly ageSeconds: number }[]
  readonly jobs: readonly {
    readonly kind: string
    readonly subjectId: string
    readonly attempts: number
    readonly dueAt: string
    readonly createdAt: string
  }[]
  /** Whether there are more jobs than `jobs` lists. */
  readonly more: boolean
}

export interface WebhookFigures {
  /** Disabled ones first, then those that fail. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** How many endpoints there are. `endpoints` has at most 100. */
  readonly total: number
  /** Events that wait for another attempt, those due first. */
  readonly retries: readonly WebhookRetry[]
  /** Whether there are more of them than `retries` lists. */
  readonly more: boolean
}

export interface WebhookEndpoint {
  readonly endpointId: string
  readonly recipientId: string
  readonly url: string
  readonly state: 'working' | 'failing' | 'disabled'
  readonly disabledFor: 'operator' | 'gone' | 'failing' | null
  readonly lastAt: string | null
  /** The status of the last response, or why there was none. */
  readonly lastResult: string | null
  readonly failingSince: string | null
}

export interface WebhookRetry {
  readonly endpointId: string
  readonly eventId: string
  readonly attempts: number
  readonly dueAt: string | null
  readonly lastResult: string | null
}

export interface AliasFigures {
  readonly at: string
  readonly unused: number
  readonly unobservable: number
  readonly aliases: readonly UsedAlias[]
}

export interface UsedAlias {
  readonly id: string
  readonly to: string | null
  readonly mode: string
  readonly sunset: string | null
  readonly due: boolean
  readonly count: number
  readonly callers: number
  readonly users: readonly {
    readonly principal: string
    readonly count: number
    readonly lastSeen: string
  }[]
}

/** Acknowledged writes that the database has lost and no operator has accepted. */
export interface LostHistoryFigures {
  readonly losses: readonly {
    readonly hostId: string
    readonly foundAt: string
    /** Null: the database has nothing of that host. */
    readonly keptAt: string | null
    readonly acknowledgedAt: string
  }[]
}

export interface LostRunFigures {
  readonly runs: readonly LostRun[]
  /** Whether there are more runs than `runs` lists. */
  readonly more: boolean
}

export interface LostRun {
  readonly run: string
  readonly operation: string
  readonly account: string
  readonly operationId: string
  readonly beganAt: string
  readonly leaseEndedAt: string | null
}

export type LedgerCheck =
  | { readonly state: 'never' }
  | { readonly state: 'running'; readonly startedAt: string }
  | {
      readonly state: 'done'
      readonly startedAt: string
      readonly tookMs: number
      readonly transfers: number
      readonly sumCents: number
      readonly problems: readonly string[]
    }
  | {
      readonly state: 'failed'
      readonly startedAt: string
      readonly tookMs: number
      readonly limitMs: number
    }
