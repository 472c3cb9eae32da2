import type { HostServices } from '@gatewright/host'
import type { CardIssuer } from '../../providers/cards/port.ts'
import type { Authorizations } from './authorizations/service.ts'
import type { CardKeyPolicies } from './key-policies.ts'

/** What the operations on cards work with. Each names those that it needs. */
export interface CardServices
  extends Pick<HostServices, 'db' | 'clock' | 'environment' | 'issuer' | 'requirements' | 'sealer'> {
  readonly cardKeyPolicies: CardKeyPolicies
  readonly authorizations: Authorizations
  readonly providers: { readonly cards?: CardIssuer }
}
