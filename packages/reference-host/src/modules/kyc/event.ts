import type { EventType } from '@gatewright/host'
import { kycReport, type KycProvider } from '../../providers/kyc/port.ts'
import { withId, type ReplyType } from '../../providers/reply.ts'
import type { KycRecords } from './records.ts'

const event = withId(kycReport)

/**
 * The event `kyc.report`: a report with the `id` of its application. Only the provider of identity checks can report
 * applications.
 */
export function kycReportEvent(kyc: KycRecords, provider: KycProvider | undefined): EventType {
  return {
    validate: event.validate,
    apply: async (tx, name, { id, ...report }: ReplyType<typeof event>, now) =>
      name === provider?.name ? kyc.report(tx, id, report, now) : 'unknown',
  }
}
