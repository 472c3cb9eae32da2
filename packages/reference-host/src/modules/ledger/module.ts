import type { HostServices, Module } from '@gatewright/host'

/** What an operator does with the ledger. */
export const ledgerModule: Module<HostServices> = {
  commands: () => import('./commands.ts'),
}
