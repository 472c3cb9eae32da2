import type { HostServices, Module } from '@gatewright/host'
import type { Product } from '../../product/product.ts'
import { readSupport } from './read.ts'

/** What this part of the product works with. */
interface SupportServices extends HostServices {
  readonly product: Product
}

/** Where users get help. */
export const supportModule: Module<SupportServices> = {
  operations: services => [readSupport(services)],
}
