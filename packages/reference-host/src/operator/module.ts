import type { HostServices, Module } from '@gatewright/host'
import { migrateProduct } from '../product/migrate.ts'

/** The tables of this product. */
export const hostModule: Module<HostServices> = {
  tables: migrateProduct,
}

/** What an operator does with legacy names. */
export const operatorModule: Module<HostServices> = {
  commands: () => import('./commands.ts'),
}
