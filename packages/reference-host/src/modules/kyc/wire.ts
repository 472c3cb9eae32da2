import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { component, text, textOrNull } from '@gatewright/host/schemas'
import type { Link } from '../../providers/kyc/port.ts'
import type { KycState } from './records.ts'
import { KYC_STATUSES, type KycStatus } from './states.ts'

/** Returns the spelling of a status on a surface: camelCase for users, snake_case for partners. */
export function spelledFor(surface: Surface, status: KycStatus): string {
  return surface === 'partner' ? status : status.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase())
}

/** Returns the status for a word in either spelling. */
export function statusOf(word: string): KycStatus | undefined {
  return KYC_STATUSES.find(status => status === word || spelledFor('user', status) === word)
}

const WireLink = Type.Object(
  { url: text('The page'), params: Type.Record(Type.String(), Type.String()) },
  component('KycLink', 'A page for the person to go on with; `params` belong into its query'),
)
const members = (surface: Surface) => {
  const link = (description: string): Type.TSchema =>
    surface === 'partner' ? textOrNull(description) : Type.Union([WireLink, Type.Null()], { description })
  return {
    id: textOrNull('Names the application'),
    status: Type.Enum(KYC_STATUSES.map(status => spelledFor(surface, status))),
    reason: textOrNull('Why, for the person'),
    completionLink: link('Where the person completes the application'),
    externalVerificationLink: link('Where the person proves who they are'),
    isActive: Type.Boolean({ description: 'Whether the identity is approved' }),
    isTermsOfServiceAccepted: Type.Boolean({
      description: 'Whether the agreements are accepted in their current version',
    }),
  }
}

/** Schema of the response, by surface: users get the state as `application`, partners in `data` itself. */
export const KycResponse = {
  user: Type.Object(
    { application: Type.Object(members('user'), component('KycApplication', 'The check of the identity')) },
    component('KycResponse', 'The check of the identity'),
  ),
  partner: Type.Object(members('partner'), component('PartnerKycApplication', 'The check of the identity')),
} as const satisfies Record<Surface, Type.TObject>

/** Converts the state of an application for responses of a surface. */
export function kycData(surface: Surface, state: KycState, accepted: boolean): Record<string, unknown> {
  const { id = null, status, reason } = state
  const link = (value: Link | null): unknown => (surface === 'partner' ? value && urlOf(value) : value)
  const application = {
    id,
    status: spelledFor(surface, status),
    reason,
    completionLink: link(state.completionLink),
    externalVerificationLink: link(state.externalVerificationLink),
    isActive: status === 'approved',
    isTermsOfServiceAccepted: accepted,
  }
  return surface === 'partner' ? application : { application }
}

function urlOf({ url, params }: Link): string {
  const full = new URL(url)
  for (const [name, value] of Object.entries(params)) full.searchParams.set(name, value)
  return full.href
}
