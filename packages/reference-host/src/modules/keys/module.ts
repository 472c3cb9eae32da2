import type { HostServices, Module } from '@gatewright/host'
import type { WebTokens } from '@gatewright/host/internal'
import { keyOperations } from './operations.ts'

/** What this part of the product works with. */
interface KeysServices extends HostServices {
  readonly webTokens: WebTokens
}

/** Keys and their policies. */
export const keysModule: Module<KeysServices> = {
  operations: keyOperations,
  commands: () => import('./commands.ts'),
}
