import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Observe } from '@gatewright/http'
import { checkOptions, type Clock, type OptionTable } from '@gatewright/kernel'
import { assertNoShadowing, createUsageLog, type UsageLog } from '@gatewright/legacy-alias-router'
import { fastestRecover } from '@gatewright/signature-verifier'
import type { ChainReader } from '../chain/reader.ts'
import { rpcClients } from '../chain/rpc-clients.ts'
import { viemReader } from '../chain/viem-reader.ts'
import type { Config } from '../config/config.ts'
import { createApp } from '../http/app.ts'
import { requestTimeLimit } from '../http/request-time.ts'
import { syncDepositAddresses } from '../modules/subscriptions/onchain/sync-deposit-addresses.ts'
import { safely } from '../observability/safely.ts'
import { createPages } from '../pages/serve.ts'
import { aliasTable } from '../product/aliases.ts'
import type { OperatorListener } from '../operator/listener.ts'
import { openStores, type OpenStores } from '../storage/open.ts'
import { appServices } from './app-services.ts'
import { startChores, type Chore, type RunningChores } from './chores.ts'
import { createContainer, type Container } from './container.ts'
import { closeServer, listen } from './listen.ts'
import { maintenance } from './maintenance.ts'
import { operations } from './operations.ts'
import { startOperator } from './operator.ts'
import type { Providers } from '../providers/ports.ts'
import * as registrations from './registrations.ts'
import { firstPartnerKey } from './sandbox.ts'

/** A running host. */
export interface RunningHost {
  /** The address it listens on, with the real port. */
  readonly url: string
  /** The address of the operator page; undefined if it is off. */
  readonly operatorUrl: string | undefined
  /** Its background tasks. A caller may run a round immediately. */
  readonly chores: readonly Chore[]
  /** The sandbox's first partner key; undefined except on the start that created it. */
  readonly partnerKey: string | undefined
  /**
   * For `drainSeconds`, reports "not ready" and closes each connection after its next response. Then stops
   * listening, lets running requests finish (10 s at most) and closes the stores.
   */
  close(): Promise<void>
}

/** Options of `startHost`. */
export interface StartOptions {
  /** Called with one decision event per request. */
  readonly observe: Observe
  /** Called with failures outside requests. */
  readonly report: (error: unknown) => void
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Whether the host repeats its chores. Default: yes. If false, the caller runs each round: for tests with a manual clock. */
  readonly repeatChores?: boolean
  /** Default: in a sandbox the built-in ones, on live none. Operations that need an absent provider are not served. */
  readonly providers?: Providers
}

const OPTIONS: OptionTable<StartOptions> = {
  observe: true,
  report: true,
  clock: true,
  repeatChores: true,
  providers: true,
}

/** How long a stopping host waits for writes whose clients have disconnected. */
const LAST_WRITES_MS = 10_000
/** How long a request, head and body, may take to arrive. */
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than proxies keep idle connections, so that no proxy reuses a connection while the host closes it. */
const KEEP_ALIVE_MS = 65_000
/**
 * How long a start waits for the first round of chain reading, so that chains are read before the first
 * pay-in.
 */
const FIRST_ROUNDS_MS = 2000

/** Time limit of a query in the client: a little above `statement_timeout`, for a database that does not reply at all. */
const QUERY_MS = 25_000

/**
 * Opens the stores, migrates their tables, loads revocations and listens. Throws `DataDirUnusable` when
 * another host uses the data folder.
 */
export async function startHost(config: Config, given: StartOptions): Promise<RunningHost> {
  checkOptions('startHost', given, OPTIONS)
  const options = { ...given, observe: safely(given.observe), report: safely(given.report) }
  const stores = await openStores(config, QUERY_MS)
  const container = await createHostContainer(config, stores, options)
  const guard = container.get(registrations.GUARD)
  let running: RunningChores | undefined
  let operator: OperatorListener | undefined
  try {
    await guard.start()
    await syncDepositAddresses(stores.backend.sql, config.payinReceivers)
    const chores = maintenance(container, options.report)
    running = startChores(chores, { repeat: options.repeatChores ?? true, report: options.report })
    await Promise.race([running.started, sleep(FIRST_ROUNDS_MS, undefined, { ref: false })])
    const aliasUsage = createUsageLog({
      storage: stores.backend.aliasUsage,
      clock: container.get(registrations.CLOCK),
      onFailure: options.report,
    })
    container.get(registrations.METRICS).feedAge(container.get(registrations.FEED).ageSeconds)
    operator = await startOperator(container, aliasUsage, options.report)
    let draining = false
    const app = createHostApp(container, recordAliasUsage(options.observe, aliasUsage), () => draining)
    const server = createServer(
      { ...requestTimeLimit(REQUEST_TIMEOUT_MS), keepAliveTimeout: KEEP_ALIVE_MS },
      app.koa.callback(),
    )
    const url = await listen(server, config)
    // Created last: if the port is in use, the start fails, and nobody would ever see the created key.
    const partnerKey = await sandboxPartnerKey(container)
    return {
      url,
      operatorUrl: operator?.url,
      partnerKey,
      chores,
      close: async () => {
        draining = true
        app.drain()
        await operator?.close()
        await sleep(config.drainSeconds * 1000)
        await closeServer(server)
        const open = await container.get(registrations.IDEMPOTENCY).drained(LAST_WRITES_MS)
        if (open > 0) {
          const seconds = LAST_WRITES_MS / 1000
          options.report(new Error(`${open} writes did not end within ${seconds} s and are rolled back`))
        }
        await container.get(registrations.JOBS).drained()
        await running?.stop()
        await container.get(registrations.ISSUER).flush().catch(options.report)
        await aliasUsage.flush().catch(options.report)
        await guard.stop()
        await stores.close()
      },
    }
  } catch (error) {
    await operator?.close()
    await running?.stop()
    await guard.stop()
    await stores.close()
    throw error
  }
}

/** Creates the container of a host over its configuration and stores. */
async function createHostContainer(
  config: Config,
  stores: OpenStores,
  { clock, report, providers }: StartOptions,
): Promise<Container> {
  const container = createContainer()
  container.bind(registrations.CONFIG, () => config)
  container.bind(registrations.BACKEND, () => stores.backend)
  container.bind(registrations.SECRETS, () => stores.secrets)
  if (clock) container.bind(registrations.CLOCK, () => clock)
  container.bind(registrations.REPORT, () => report)
  if (providers) container.bind(registrations.GIVEN_PROVIDERS, () => providers)
  const recovery = await fastestRecover()
  container.bind(registrations.RECOVERY, () => recovery)
  container.bind(registrations.CHAINS, () => rpcClients(config.rpcUrls))
  container.bind(registrations.READERS, () => chainReaders(config))
  return container
}

/** A reader for each chain that has a pay-in receiver. */
function chainReaders({ payinReceivers, rpcUrls }: Config): ReadonlyMap<number, ChainReader> {
  const wanted = rpcUrls.filter(({ chainId }) => payinReceivers.some(each => each.chainId === chainId))
  return new Map(wanted.map(chain => [chain.chainId, viemReader(chain)]))
}

async function sandboxPartnerKey(container: Container): Promise<string | undefined> {
  if (container.get(registrations.CONFIG).environment !== 'sandbox') return undefined
  return firstPartnerKey(
    container.get(registrations.PARTNERS),
    container.get(registrations.ISSUER),
    container.get(registrations.CLOCK),
  )
}

function createHostApp(
  container: Container,
  observe: Observe,
  draining: () => boolean,
): ReturnType<typeof createApp> {
  const services = appServices(container, observe, draining)
  const config = container.get(registrations.CONFIG)
  const { publicUrl = '/', serviceName, directUserKey } = config
  const table = operations(services, { serviceName, url: publicUrl, aliases: aliasTable, directUserKey })
  assertNoShadowing(
    aliasTable,
    table.flatMap(({ paths }) => paths),
  )
  return createApp(table, services, createPages(config))
}

/** Records which key used which legacy name, then passes each decision on. */
function recordAliasUsage(observe: Observe, aliasUsage: UsageLog): Observe {
  return decision => {
    aliasUsage.record(decision.keyId, decision.aliases)
    observe(decision)
  }
}
