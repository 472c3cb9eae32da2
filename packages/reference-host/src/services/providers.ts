import type { HostServices } from '@gatewright/host'
import { hkdfSync } from 'node:crypto'
import type { Clock } from '@gatewright/kernel'
import { originOf } from '@gatewright/host/internal'
import type { Config } from '../config/config.ts'
import { checkedProvider, type CallOutcome } from '../providers/calls.ts'
import type { NamedProvider, Port, ProviderOf } from '../providers/port.ts'
import { PORTS, type Providers } from '../providers/ports.ts'
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts'

/** The services that the built-in providers use. */
interface ProviderServices {
  readonly config: Config
  readonly backend: HostServices['backend']
  readonly clock: Clock
  readonly secrets: HostServices['secrets']
  /** Counts a call to the provider of a port. */
  readonly count: (port: string, outcome: CallOutcome) => void
}

/**
 * Returns the providers of a host. Throws a `TypeError` for a provider whose name is not valid in a path, or is that of the
 * built-in providers.
 */
export function hostProviders(given: Providers, services: ProviderServices): Providers {
  const { config, backend, clock, secrets, count } = services
  const sandbox = { db: backend.sql, clock, origin: originOf(config), secret: sandboxSecret(secrets) }
  const own: Readonly<Record<string, NamedProvider | undefined>> = given
  const providers = Object.entries(PORTS).flatMap(([name, { port, sandbox: builtIn }]) => {
    const provider = own[name] ?? (config.environment === 'sandbox' ? builtIn(sandbox) : undefined)
    if (!provider) return []
    if (provider === own[name]) assertName(name, provider.name)
    const options = { count: (outcome: CallOutcome) => count(name, outcome) }
    return [[name, checkedProvider<Port>(port, provider as ProviderOf<Port>, options)] as const]
  })
  return Object.fromEntries(providers)
}

function assertName(port: string, name: string): void {
  if (!/^[a-z0-9-]{1,32}$/.test(name))
    throw new TypeError(`providers.${port}.name must be 1 to 32 of a-z, 0-9 and -, got "${name}"`)
  if (name === SANDBOX_PROVIDER)
    throw new TypeError(`providers.${port}.name must not be "${SANDBOX_PROVIDER}": that is the built-in one`)
}

/** The secret of the built-in providers: the same on every host that shares its secrets. */
export function sandboxSecret({
  signingKeyEncryptionKey,
}: Pick<HostServices['secrets'], 'signingKeyEncryptionKey'>): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', signingKeyEncryptionKey, '', 'sandbox card numbers', 32))
}
