import * as Type from 'typebox/type'
import { kycReport, type KycProvider, type KycReport } from '../../providers/kyc/port.ts'
import { compileSchema } from '../../schemas/check.ts'
import type { EventType } from '../system/provider-events.ts'
import type { KycRecords } from './records.ts'

const validateId = compileSchema(Type.Object({ id: Type.String({ pattern: '^[!-~]{1,120}$' }) }))

/** The event `kyc.report`: a report with the `id` of its application. Only the provider of identity checks knows applications. */
export function kycReportEvent(kyc: KycRecords, provider: KycProvider | undefined): EventType {
  return {
    validate: data => validateId(data) ?? kycReport.validate(data),
    apply: async (tx, name, { id, ...report }: KycReport & { readonly id: string }, now) =>
      name === provider?.name ? kyc.report(tx, id, report, now) : 'unknown',
  }
}
