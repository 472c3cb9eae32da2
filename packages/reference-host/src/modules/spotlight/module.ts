import type { HostServices, Module } from '@gatewright/host'
import type { Product } from '../../product/product.ts'
import { listSpotlight } from './list.ts'

/** What this part of the product works with. */
interface SpotlightServices extends HostServices {
  readonly product: Product
}

/** What a client shows first. */
export const spotlightModule: Module<SpotlightServices> = {
  operations: services => [listSpotlight(services)],
}
