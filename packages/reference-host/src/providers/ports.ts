import { cardPort } from './cards/port.ts'
import { sandboxIssuer } from './cards/sandbox.ts'
import { depositPort } from './deposits/port.ts'
import { sandboxDeposits } from './deposits/sandbox.ts'
import { kycPort } from './kyc/port.ts'
import { sandboxKyc } from './kyc/sandbox.ts'
import type { Port, ProviderOf } from './port.ts'
import { withdrawalPort } from './withdrawals/port.ts'
import { sandboxWithdrawals } from './withdrawals/sandbox.ts'

const kind = <P extends Port, Options>(port: P, sandbox: (options: Options) => ProviderOf<P>) => ({
  port,
  sandbox,
})

/** Every kind of provider: what the host calls on it, and the built-in one of a sandbox. */
export const PORTS = {
  kyc: kind(kycPort, sandboxKyc),
  cards: kind(cardPort, sandboxIssuer),
  deposits: kind(depositPort, sandboxDeposits),
  withdrawals: kind(withdrawalPort, sandboxWithdrawals),
}

/** Services of others that a host can use. A sandbox has built-in ones for those that are not given; a live host serves nothing that needs an absent one. */
export type Providers = { readonly [Name in keyof typeof PORTS]?: ProviderOf<(typeof PORTS)[Name]['port']> }
