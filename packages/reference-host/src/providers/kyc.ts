import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { nameText } from '../schemas/names.ts'
import type { MessageVerifier } from '../http/provider-messages.ts'

/** The statuses that a provider of identity checks can report. */
export const REPORTED_STATUSES = [
  'pending',
  'approved',
  'denied',
  'manual_review',
  'needs_information',
  'needs_verification',
  'locked',
] as const
export type ReportedStatus = (typeof REPORTED_STATUSES)[number]

/** A page where the person continues. Clients add `params` to the query of the URL. */
export interface Link {
  readonly url: string
  readonly params: Readonly<Record<string, string>>
}

/** The personal data of an application, with the same codes for both surfaces. Never log it. */
export interface KycApplication {
  readonly firstName: string
  readonly lastName: string
  /** `YYYY-MM-DD`. */
  readonly birthDate: string
  /** Country codes are two upper-case letters (ISO 3166-1). */
  readonly countryOfIssue: string
  readonly email: string
  readonly address: {
    readonly line1: string
    readonly line2: string | null
    readonly city: string
    readonly region: string
    readonly postalCode: string
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

/** What a provider reports about an application. */
export interface KycReport {
  /**
   * Grows with each change at the provider; null if the provider does not count changes. Of two reports the higher version wins,
   * whichever arrived first.
   */
  readonly version: number | null
  readonly status: ReportedStatus
  /** A text for the person. */
  readonly reason: string | null
  /** Where the person completes the application. */
  readonly completionLink: Link | null
  /** Where the person proves who they are. */
  readonly externalVerificationLink: Link | null
}

/**
 * Checks the identity of people. The host applies a report only if the status of the application allows the change
 * (docs/identity-check.md). The same call may be repeated at any time, also by several hosts at the same time. A call must end within
 * 10 seconds and stop when its signal aborts. Faults: `ERR_PROVIDER_UNAVAILABLE` for an outage, `ERR_PROVIDER_REPLY` for a malformed
 * reply. Their messages are logged, so they must contain nothing of the application. Any other error counts as an outage.
 */
export interface KycProvider {
  /** The name in `/providers/{name}/events` and `PROVIDER_WEBHOOK_SECRETS`: 1 to 32 characters of `a-z0-9-`. */
  readonly name: string
  /**
   * Submits an application and returns its current state. A repeated `id` is the same application, whatever the fields are. The host
   * repeats the call while the application is `pending`; later changes must come as events.
   */
  submit(id: string, application: KycApplication, signal: AbortSignal): Promise<KycReport>
  /** Verifies the signature of an event. Absent if the provider signs events by Standard Webhooks 1.0.0. */
  readonly verify?: MessageVerifier
}

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const LinkSchema = Type.Object({
  url: Type.String({ pattern: '^https?://[!-~]{1,2000}$' }),
  params: Type.Record(Type.String(), Type.String({ maxLength: 2000 })),
})

const validateReportSchema = compileSchema(
  Type.Object({
    // A larger number would be stored inexactly and could never be read again.
    version: orNull(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    status: Type.Enum([...REPORTED_STATUSES]),
    reason: orNull(nameText(1, 200)),
    completionLink: orNull(LinkSchema),
    externalVerificationLink: orNull(LinkSchema),
  }),
)
const LINKS = ['completionLink', 'externalVerificationLink'] as const

/** Returns the first error in a report; undefined for a valid report. */
export const validateKycReport: ReturnType<typeof compileSchema> = report => {
  const problem = validateReportSchema(report)
  if (problem) return problem
  const links = report as Pick<KycReport, (typeof LINKS)[number]>
  const wrong = LINKS.find(name => links[name] && !URL.canParse(links[name].url))
  return wrong && { path: [wrong, 'url'], message: `${wrong}.url must be a valid URL` }
}
