import * as Type from 'typebox/type'
import { nameText } from '@gatewright/host/schemas'
import { URL_FORMAT } from '@gatewright/host/internal'
import { takes, type ProviderOf } from '../port.ts'
import { orNull, reply, type ReplyType } from '../reply.ts'

/** The personal data of an application, with the same codes for both surfaces. Never log it. */
export interface KycApplication {
  /** A person with one name has it in one of both, and null in the other. */
  readonly firstName: string | null
  readonly lastName: string | null
  /** `YYYY-MM-DD`. */
  readonly birthDate: string
  /** Country codes are two upper-case letters (ISO 3166-1). */
  readonly countryOfIssue: string
  readonly email: string
  readonly address: {
    readonly line1: string
    readonly line2: string | null
    /** Null where the country requires none and the person gave none, as also of the two that follow. */
    readonly city: string | null
    readonly region: string | null
    readonly postalCode: string | null
    readonly countryCode: string
  }
  readonly occupation: string
  readonly annualSalary: string
  readonly accountPurpose: string
  readonly expectedMonthlyVolume: string
  /** Null if the person gave none, and after the first reply of the provider, when the host has dropped it. */
  readonly nationalId: string | null
  readonly phone: { readonly countryCode: string; readonly number: string } | null
}

const link = Type.Object({
  url: Type.String({ pattern: '^https?://[!-~]{1,2000}$', format: URL_FORMAT }),
  params: Type.Record(Type.String(), Type.String({ maxLength: 2000 })),
})
/** A page where the person continues. Clients add `params` to the query of the URL. */
export type Link = NonNullable<KycReport['completionLink']>

export const kycReport = reply(
  Type.Object({
    /**
     * Grows with each change at the provider; null if the provider does not count changes. Of two reports the higher version wins,
     * whichever arrived first. A number above this maximum would be stored inexactly and could never be read again.
     */
    version: orNull(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    status: Type.Enum([
      'pending',
      'approved',
      'denied',
      'manual_review',
      'needs_information',
      'needs_verification',
      'locked',
    ]),
    /** A text for the person. */
    reason: orNull(nameText(1, 200)),
    /** Where the person completes the application. */
    completionLink: orNull(link),
    /** Where the person proves who they are. */
    externalVerificationLink: orNull(link),
  }),
)
/** What a provider reports about an application. */
export type KycReport = ReplyType<typeof kycReport>
export type ReportedStatus = KycReport['status']

export const kycPort = {
  /**
   * Submits an application and returns its current state. A repeated `id` is the same application, whatever the fields are. The host
   * repeats the call while the application is `pending`; later changes must come as events.
   */
  submit: takes<[id: string, application: KycApplication]>().replies(kycReport),
}
/**
 * Checks the identity of people. The host applies a report only if the status of the application allows the change
 * (docs/identity-check.md, also for time limits and faults). The same call may be repeated at any time, also by several hosts at the
 * same time.
 */
export type KycProvider = ProviderOf<typeof kycPort>
