import type { HostServices, Module } from '@gatewright/host'
import type { PayinReceiver } from '../../chain/receivers.ts'
import { listTokens } from './list.ts'
import type { TokenUse } from './token.ts'

/** What this part of the product works with. */
interface TokensServices extends HostServices {
  readonly receivers: readonly PayinReceiver[]
  readonly providerTokens: () => Promise<readonly TokenUse[]>
}

/** Tokens that can be paid with. */
export const tokensModule: Module<TokensServices> = {
  operations: services => [listTokens(services)],
}
