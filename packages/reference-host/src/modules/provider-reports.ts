import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { AppliedEvent } from '@gatewright/host/internal'
import type { EventOutcome, JobHandler, HostServices } from '@gatewright/host'
import type { Providers } from '../providers/ports.ts'
import { withId, type ObjectReply } from '../providers/reply.ts'

/** What a job that calls a provider works with, beside its services. */
export interface ProviderCalls<P> {
  readonly provider: P
  /** Counts the outcome of a report that the provider has replied. */
  readonly count: (outcome: EventOutcome) => void
}

/** The job that calls one kind of provider. */
interface ProviderJob<K> {
  readonly provider: K
  /** The kind of the job. */
  readonly job: string
  /** The event that carries the same reports: their outcomes are counted together. */
  readonly event: string
}

/** The jobs of a module that calls one kind of provider. A host without such a provider has none. */
export function providerJobs<K extends keyof Providers, S>(
  { provider: kind, job, event }: ProviderJob<K>,
  handlerOf: (services: S, calls: ProviderCalls<NonNullable<Providers[K]>>) => JobHandler,
): (
  services: S & {
    readonly providers: Providers
    readonly metrics: Pick<HostServices['metrics'], 'providerEvent'>
  },
) => Readonly<Record<string, JobHandler>> {
  return services => {
    const { providers, metrics } = services
    const provider = providers[kind]
    if (!provider) return {}
    return {
      [job]: handlerOf(services, { provider, count: outcome => metrics.providerEvent(event, outcome) }),
    }
  }
}

/** How the report of a provider is applied, and what of it is kept if its object is unknown. */
interface AppliedReport<T> {
  /** Gets the name of the provider, which is to report only its own objects. */
  apply(
    tx: SqlQueries,
    provider: string,
    report: T & { readonly id: string },
    now: EpochMs,
  ): Promise<EventOutcome>
  /** US cents that the report names; null if it names none. */
  amountOf(report: T): number | null
  /** The members that are kept: no personal data. Default: all. */
  kept?(report: T & { readonly id: string }): object
}

/** An event that carries a report with the `id` of its object. */
export function reportEvent<T>(
  report: ObjectReply<T>,
  { apply, amountOf, kept = given => given }: AppliedReport<T & object>,
): AppliedEvent {
  type Data = T & { readonly id: string }
  return {
    data: withId(report).schema,
    ofUnknownObject: 'sent_again',
    apply: (tx, data: Data, { provider, now }) => apply(tx, provider, data, now),
    keeps: (data: Data) => ({ amountCents: amountOf(data), cardId: null, data: kept(data) }),
  }
}
