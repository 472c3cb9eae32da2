import * as Type from 'typebox/type'
import { compileSchema } from '../schemas/check.ts'
import { nameText } from '../schemas/names.ts'
import type { MessageVerifier } from './messages.ts'

/** What a provider of identity checks can report. */
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

/** A page for the person to go on with; `params` belong into its query. */
export interface Link {
  readonly url: string
  readonly params: Readonly<Record<string, string>>
}

/** What a person has told, in one vocabulary. It is personal data: never log it. */
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
  /** Null where it was not told, and once the provider has answered: the host drops it then. */
  readonly nationalId: string | null
  readonly phone: { readonly countryCode: string; readonly number: string } | null
}

/** What a provider says of an application now. */
export interface KycReport {
  /** Grows with each change at the provider; null when it counts none. Of two reports the higher version wins, whichever came first. */
  readonly version: number | null
  readonly status: ReportedStatus
  /** For the person. */
  readonly reason: string | null
  /** Where the person completes the application. */
  readonly completionLink: Link | null
  /** Where the person proves who they are. */
  readonly externalVerificationLink: Link | null
}

/**
 * Checks the identity of people. Whatever it does, the operator's decision stands: the host applies only reports that the state of
 * the application allows. A call may be made again at any time, by several hosts at once. It must end within 10 seconds and obey its
 * signal. Faults: `ERR_PROVIDER_UNAVAILABLE` for an outage, `ERR_PROVIDER_REPLY` for a reply that it cannot read; their messages are
 * logged, so they must hold nothing of the application. Whatever else it throws counts as an outage.
 */
export interface KycProvider {
  /** Names it in `/providers/{name}/events` and `PROVIDER_WEBHOOK_SECRETS`: 1 to 32 of `a-z0-9-`. */
  readonly name: string
  /**
   * Submits an application. The same `id` again is the same application, whatever the fields are: the answer is what is known of it
   * by now. Called again while the answer is `pending`; changes after that come by events.
   */
  submit(id: string, application: KycApplication, signal: AbortSignal): Promise<KycReport>
  /** Proves an event in the provider's own way. Without it, events are signed by Standard Webhooks. */
  readonly verify?: MessageVerifier
}

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const LinkSchema = Type.Object({
  url: Type.String({ pattern: '^https?://[!-~]{1,2000}$' }),
  params: Type.Record(Type.String(), Type.String({ maxLength: 2000 })),
})

/** The first thing that is wrong with a report; undefined for a good one. */
export const kycReportFault: ReturnType<typeof compileSchema> = compileSchema(
  Type.Object({
    version: orNull(Type.Integer({ minimum: 0 })),
    status: Type.Enum([...REPORTED_STATUSES]),
    reason: orNull(nameText(1, 200)),
    completionLink: orNull(LinkSchema),
    externalVerificationLink: orNull(LinkSchema),
  }),
)
