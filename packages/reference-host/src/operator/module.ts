import type { HostServices, Module } from '@gatewright/host'
import { migrateProduct } from '../product/migrate.ts'

/** The tables of this product, and the commands of every host. */
export const hostModule: Module<HostServices> = {
  tables: migrateProduct,
  commands: () => import('./host-commands.ts'),
}

/** What an operator does with jobs, lost runs, history and legacy names. */
export const operatorModule: Module<HostServices> = {
  commands: () => import('./commands.ts'),
}
