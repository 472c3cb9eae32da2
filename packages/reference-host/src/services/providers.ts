import { hkdfSync } from 'node:crypto'
import type { Clock } from '@gatewright/kernel'
import type { Config } from '../config/config.ts'
import { originOf } from '../config/origin.ts'
import type { CardIssuer } from '../providers/card-issuer.ts'
import type { DepositProvider } from '../providers/deposits.ts'
import type { KycProvider } from '../providers/kyc.ts'
import { limitedIssuer, limitedKyc, type CallOptions } from '../providers/calls.ts'
import { limitedDeposits, limitedWithdrawals } from '../providers/limited-transfers.ts'
import { sandboxIssuer } from '../providers/sandbox-issuer.ts'
import { SANDBOX_PROVIDER, sandboxKyc } from '../providers/sandbox-kyc.ts'
import { sandboxDeposits, sandboxWithdrawals } from '../providers/sandbox-transfers.ts'
import type { WithdrawalProvider } from '../providers/withdrawals.ts'
import type { Backend } from '../storage/backend.ts'
import type { Secrets } from '../storage/secrets.ts'

/** Services of others that a host can use. A sandbox has built-in ones for those that are not given; a live host serves nothing that needs an absent one. */
export interface Providers {
  readonly kyc?: KycProvider
  readonly cards?: CardIssuer
  readonly deposits?: DepositProvider
  readonly withdrawals?: WithdrawalProvider
}

/** What the built-in providers work with. */
interface ProviderServices extends CallOptions {
  readonly config: Config
  readonly backend: Backend
  readonly clock: Clock
  readonly secrets: Secrets
}

/** The providers of a host. Throws a `TypeError` for a name that does not fit into a path, and for a given one that has the name of the built-in ones. */
export function hostProviders(given: Providers, services: ProviderServices): Providers {
  const { config, backend, clock, secrets } = services
  for (const [port, provider] of Object.entries(given) as [string, Providers[keyof Providers]][]) {
    if (provider === undefined) continue
    if (!/^[a-z0-9-]{1,32}$/.test(provider.name))
      throw new TypeError(`providers.${port}.name must be 1 to 32 of a-z, 0-9 and -, got "${provider.name}"`)
    if (provider.name === SANDBOX_PROVIDER)
      throw new TypeError(
        `providers.${port}.name must not be "${SANDBOX_PROVIDER}": that is the built-in one`,
      )
  }
  const builtIn = config.environment === 'sandbox'
  const origin = originOf(config)
  const kyc =
    given.kyc ??
    (builtIn ? sandboxKyc({ db: backend.sql, clock, completionUrl: `${origin}/identity/kyc` }) : undefined)
  const cards =
    given.cards ??
    (builtIn ? sandboxIssuer({ db: backend.sql, clock, secret: cardSecret(secrets) }) : undefined)
  const sandbox = { db: backend.sql, clock }
  const deposits = given.deposits ?? (builtIn ? sandboxDeposits(sandbox) : undefined)
  const withdrawals = given.withdrawals ?? (builtIn ? sandboxWithdrawals(sandbox) : undefined)
  return {
    ...(kyc ? { kyc: limitedKyc(kyc, services) } : {}),
    ...(cards ? { cards: limitedIssuer(cards, services) } : {}),
    ...(deposits ? { deposits: limitedDeposits(deposits, services) } : {}),
    ...(withdrawals ? { withdrawals: limitedWithdrawals(withdrawals, services) } : {}),
  }
}

/** The secret of the built-in issuer's card numbers: the same on every host that shares its secrets. */
export function cardSecret({
  signingKeyEncryptionKey,
}: Pick<Secrets, 'signingKeyEncryptionKey'>): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', signingKeyEncryptionKey, '', 'sandbox card numbers', 32))
}
