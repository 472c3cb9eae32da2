import type { RecordedEvent } from '@gatewright/host'
import type { Limit } from '../../product/limit-words.ts'

/** The `detail` of the event `limit.alert`: a limit of a policy, and how much of it was used. */
interface StoredAlert extends Pick<Limit, 'rule' | 'operations' | 'unit' | 'window'> {
  readonly policyId: string
  readonly keyId?: string
  readonly timeZone?: string
  readonly limit: number
  readonly used: number
  readonly alertAtPercent: number
  readonly resetsAt: number | null
}

/** An alert as the API shows it. */
export type LimitAlert = Omit<StoredAlert, 'resetsAt'> & { readonly resetsAt: string | null }

/** Reads the alert of an event. Undefined: the event is another one. */
export function limitAlert({
  subject,
  detail,
}: Pick<RecordedEvent, 'subject' | 'detail'>): LimitAlert | undefined {
  if (subject.kind !== 'limit' || detail === null) return undefined
  const { resetsAt, ...alert } = JSON.parse(detail) as StoredAlert
  return { ...alert, resetsAt: resetsAt === null ? null : new Date(resetsAt).toISOString() }
}
