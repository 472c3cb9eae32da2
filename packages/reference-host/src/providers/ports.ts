import { cardPort } from './cards/port.ts'
import { sandboxIssuer } from './cards/sandbox.ts'
import { depositPort } from './deposits/port.ts'
import { sandboxDeposits } from './deposits/sandbox.ts'
import { kycPort } from './kyc/port.ts'
import { sandboxKyc } from './kyc/sandbox.ts'
import type { ProviderOf } from './port.ts'
import { withdrawalPort } from './withdrawals/port.ts'
import { sandboxWithdrawals } from './withdrawals/sandbox.ts'

/** Every kind of provider: what the host calls on it, and the built-in one of a sandbox. */
export const PORTS = {
  kyc: { port: kycPort, sandbox: sandboxKyc },
  cards: { port: cardPort, sandbox: sandboxIssuer },
  deposits: { port: depositPort, sandbox: sandboxDeposits },
  withdrawals: { port: withdrawalPort, sandbox: sandboxWithdrawals },
}

/** Services of others that a host can use. A sandbox has built-in ones for those that are not given; a live host serves nothing that needs an absent one. */
export type Providers = { readonly [Name in keyof typeof PORTS]?: ProviderOf<(typeof PORTS)[Name]['port']> }
