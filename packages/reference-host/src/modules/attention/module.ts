import type { HostServices, Module } from '@gatewright/host'
import type { ProductMetrics } from '../../product/metrics.ts'
import { attentionChores } from './reports.ts'

/** What this part of the product works with. */
interface AttentionServices extends HostServices {
  readonly productMetrics: ProductMetrics
}

/** What the operator must look at: conflicts, and events of providers that could not be applied. */
export const attentionModule: Module<AttentionServices> = {
  chores: attentionChores,
  commands: () => import('./kept-events-commands.ts'),
}
