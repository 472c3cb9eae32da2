import type { HostServices, Module } from '@gatewright/host'
import type { PartnerStore } from './store.ts'

/** What this part of the product works with. */
interface PartnersServices extends HostServices {
  readonly partners: PartnerStore
}

/** What an operator does with partners. */
export const partnersModule: Module<PartnersServices> = {
  commands: () => import('./commands.ts'),
}
