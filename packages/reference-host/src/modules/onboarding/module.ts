import type { HostServices, Module } from '@gatewright/host'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import { onboardingOperations } from './operations.ts'

/** What this part of the product works with. */
interface OnboardingServices extends HostServices {
  readonly acceptances: AgreementAcceptances
}

/** What an account must do before it can use operations. */
export const onboardingModule: Module<OnboardingServices> = {
  operations: onboardingOperations,
}
