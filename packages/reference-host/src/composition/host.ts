import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import { fastestRecover } from '@gatewright/signature-verifier'
import { type Product, type StartedHost, runHost, type HostOptions } from '@gatewright/host'
import type { Config } from '../config/config.ts'
import type { OperatorListener } from '../operator/listener.ts'
import { createPages } from '../pages/serve.ts'
import { aliasTable } from '../product/aliases.ts'
import { documentation } from '../product/documentation.ts'
import { allScopes } from '../product/scopes.ts'
import type { Providers } from '../providers/ports.ts'
import { ProductFactories, type Services } from '../services/services.ts'
import { modules } from './modules.ts'
import { startOperator } from './operator.ts'
import { firstPartnerKey } from './sandbox.ts'

/** A running host of this product. */
export interface RunningHost extends Omit<StartedHost<Services>, 'services'> {
  /** The address of the operator page; undefined if it is off. */
  readonly operatorUrl: string | undefined
  /** The sandbox's first partner key; undefined except on the start that created it. */
  readonly partnerKey: string | undefined
  /** Whether a text is a live partner key of this host. Counts as a use of the key. */
  acceptsPartnerKey(text: string): Promise<boolean>
}

/** Options of `startHost`. */
export interface StartOptions extends Omit<HostOptions, 'pages'> {
  /** Default: in a sandbox the built-in ones, on live none. Operations that need an absent provider are not served. */
  readonly providers?: Providers
}

const OPTIONS: OptionTable<StartOptions> = {
  observe: true,
  report: true,
  clock: true,
  repeatChores: true,
  middleware: true,
  providers: true,
}

/** This product: its modules, and the services that they work with. */
export const product: Product<Services> = {
  modules,
  services: new ProductFactories(),
  scopes: allScopes,
  aliases: aliasTable,
  documentation,
}

/**
 * Opens the stores, migrates their tables, loads revocations and listens. Throws `DataDirUnusable` when
 * another host uses the data folder.
 */
export async function startHost(config: Config, options: StartOptions): Promise<RunningHost> {
  checkOptions('startHost', options, OPTIONS)
  const { providers = {}, ...given } = options
  const recovery = await fastestRecover()
  const services = new ProductFactories({ providers, recovery })
  const host = await runHost(config, { ...product, services }, { ...given, pages: createPages(config) })
  let operator: OperatorListener | undefined
  const close = async (): Promise<void> => {
    await operator?.close()
    await host.close()
  }
  try {
    operator = await startOperator(host.services)
    return {
      url: host.url,
      chores: host.chores,
      operatorUrl: operator?.url,
      partnerKey: await sandboxPartnerKey(host.services),
      acceptsPartnerKey: async text => (await host.services.issuer.authenticateKey(text, 'partner')).ok,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function sandboxPartnerKey({
  environment,
  partners,
  issuer,
  clock,
}: Services): Promise<string | undefined> {
  return environment === 'sandbox' ? firstPartnerKey(partners, issuer, clock) : undefined
}
