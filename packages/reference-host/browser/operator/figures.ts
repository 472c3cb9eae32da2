// The responses of the operator listener (`src/operator/endpoints.ts`).

/** The outcomes of a request, in the order in which they are shown. */
export const OUTCOMES = ['allowed', 'refused', 'limited', 'failed'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface HostFigures {
  readonly serviceName: string
  readonly environment: 'sandbox' | 'live'
  readonly version: string
  readonly pid: number
  readonly since: string
}

export interface DecisionFigures {
  readonly since: string
  readonly slotSeconds: number
  readonly windowSeconds: number
  readonly totals: Readonly<Record<Outcome, number>>
  readonly slots: readonly (Readonly<Record<Outcome, number>> & { readonly at: string })[]
}

export interface StoreFigures {
  readonly slotSeconds: number
  readonly stores: readonly StoreLatency[]
}

export interface StoreLatency {
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
