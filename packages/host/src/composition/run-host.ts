import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import type { Clock, ScopeCatalogue } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { assertNoShadowing, type AliasTable } from '@gatewright/legacy-alias-router'
import type { Observe } from '@gatewright/http'
import { originOf } from '../config/origin.ts'
import type { AppOptions, createApp } from '../http/app.ts'
import { requestTimeLimit } from '../http/request/request-time.ts'
import { safely } from '../observability/safely.ts'
import { VERSION, type Documentation } from '../openapi/document.ts'
import { openStores } from '../storage/open.ts'
import { commandHost } from './command-host.ts'
import { serveCommands } from './command-socket.ts'
import { startChores, type Chore, type RunningChores } from './chores.ts'
import { choreFailures, hostChores } from './host-chores.ts'
import { operationTable } from './host-module.ts'
import { HostFactories, modulesOf, type HostInputs, type HostServices } from './host-services.ts'
import { closeServer, listen } from './listen.ts'
import { makeServices } from './make-services.ts'
import type { Module } from './module.ts'
import { beginStop } from './stop.ts'

/** What a host serves: its modules, and the services that they work with. */
export interface Product<S> {
  readonly modules: readonly Module<S>[]
  /** How the product's services are made: an object of a class that extends `HostFactories`. Default: those of every host only. */
  readonly services?: HostFactories
  /** The names of all scopes that operations may name. */
  readonly scopes: ScopeCatalogue<string>
  /** Default: none. */
  readonly aliases?: AliasTable
  /** What the API description says beside its operations. Default: nothing, and groups in the order of the operations. */
  readonly documentation?: Documentation
}

/** Options of a start. */
export interface HostOptions extends AppOptions {
  /** Called with one decision event per request. */
  readonly observe: Observe
  /** Called with failures that no decision event has: those outside requests, and of `middleware` after an operation has responded. */
  readonly report: (error: unknown) => void
  /** Default: the system clock. */
  readonly clock?: Clock
  /**
   * Whether the host repeats its chores. Default: yes. Without, the caller runs their rounds: a test with a clock of its own, whose
   * time does not pass between them.
   */
  readonly repeatChores?: boolean
}

const OPTIONS: OptionTable<HostOptions> = {
  observe: true,
  report: true,
  clock: true,
  repeatChores: true,
  pages: true,
  middleware: true,
}

/** A running host, with the services that it works with. */
export interface StartedHost<S> {
  /** The address it listens on, with the real port. */
  readonly url: string
  readonly services: S
  /** Its background tasks. A caller may run a round at once. */
  readonly chores: readonly Chore[]
  /**
   * For `drainSeconds`, reports "not ready" and closes each connection after its next response. Then stops
   * listening, lets running requests and their writes finish, and closes the stores. That takes 10 s at most, also while a store
   * does not reply: what has not ended by then is cut off and reported. Never rejects.
   */
  close(): Promise<void>
}

/** How long a request, head and body, may take to arrive. */
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than proxies keep idle connections, so that no proxy reuses one that the host is just closing. */
const KEEP_ALIVE_MS = 65_000
/** How long a start waits for the first round of its chores. */
const FIRST_ROUNDS_MS = 2000
/** Time limit of a query in the client: a little above `statement_timeout`, for a database that does not reply at all. */
const QUERY_MS = 25_000

/** Returns the function that migrates the tables of a product's modules. */
export function tablesOf<S>({ modules }: Pick<Product<S>, 'modules'>): (db: SqlClient) => Promise<void> {
  return async db => {
    for (const module of modules) await module.tables?.(db)
  }
}

/** Opens the stores of a configuration and migrates the tables of every host and of a product's modules. */
export async function openProduct<S extends HostServices>(
  config: S['config'],
  product: Product<S>,
  options: HostOptions & Partial<Pick<HostInputs, 'progress' | 'draining'>>,
  queryMs?: number,
): Promise<{ readonly services: S; close(): Promise<void> }> {
  const stores = await openStores(config, tablesOf(product), queryMs)
  const { clock, observe, report, progress = () => {}, draining = () => false } = options
  const inputs: HostInputs = {
    config,
    backend: stores.backend,
    secrets: stores.secrets,
    modules: product.modules,
    observe,
    report,
    progress,
    draining,
    scopes: product.scopes,
    aliasTable: product.aliases ?? {},
    documentation: product.documentation ?? { introduction: '', groups: {} },
  }
  const factories = product.services ?? new HostFactories()
  const services = makeServices<S>(factories, { ...inputs, ...(clock ? { clock } : {}) } as Partial<S>)
  return { services, close: () => stores.close() }
}

/**
 * Opens the stores, migrates their tables, loads revocations and listens. Throws `DataDirUnusable` when
 * another host uses the data folder.
 */
export async function runHost<S extends HostServices>(
  config: S['config'],
  product: Product<S>,
  given: HostOptions,
): Promise<StartedHost<S>> {
  checkOptions('runHost', given, OPTIONS)
  let draining = false
  const report = safely(given.report)
  const options = { ...given, observe: safely(given.observe), report, draining: () => draining }
  const { services, close: closeStores } = await openProduct(config, product, options, QUERY_MS)
  let running: RunningChores | undefined
  let stopGuard = async (): Promise<void> => {}
  try {
    // Reading a service makes it, which may throw.
    const { guard, metrics, feed, aliasUsage, issuer, idempotency, jobs } = services
    const { aliasTable, backend, requestLog } = services
    stopGuard = () => guard.stop()
    await guard.start()
    for (const { start } of modulesOf(services)) await start?.(services)
    const chores = hostChores(services)
    running = startChores(chores, { repeat: given.repeatChores ?? true, failed: choreFailures(services) })
    await Promise.race([running.started, sleep(FIRST_ROUNDS_MS, undefined, { ref: false })])
    metrics.feedAge(feed.ageSeconds)
    if (backend.retries) metrics.databaseRetries(backend.retries)
    if (backend.connections) metrics.databaseConnections(backend.connections)
    metrics.droppedRequests(() => requestLog.dropped)
    const table = operationTable(services)
    assertNoShadowing(
      aliasTable,
      table.flatMap(({ paths }) => paths),
    )
    // Koa is loaded here, because a command on the stores serves nothing.
    const { createApp } = await import('../http/app.ts')
    const app = createApp(table, mountServices(services), options)
    const server = createServer(
      { ...requestTimeLimit(REQUEST_TIMEOUT_MS), keepAliveTimeout: KEEP_ALIVE_MS },
      app.listener,
    )
    const url = await listen(server, config)
    // Other processes cannot open the embedded database.
    const commands =
      config.databaseUrl === undefined
        ? await serveCommands(config.dataDir, commandHost(services))
        : undefined
    return {
      url,
      services,
      chores,
      close: async () => {
        draining = true
        app.drain()
        await sleep(config.drainSeconds * 1000)
        const stop = beginStop(report)
        const requests = async (): Promise<void> => {
          await closeServer(server, stop.left('work'))
          const open = await idempotency.drained(stop.left('work'))
          if (open > 0) report(new Error(`${open} writes did not end before the stop and are rolled back`))
          await jobs.drained()
        }
        await stop.run('work', [
          requests(),
          running?.stop() ?? Promise.resolve(),
          commands?.close() ?? Promise.resolve(),
        ])
        await stop.run('memory', [issuer.flush(), aliasUsage.flush(), requestLog.flush(), guard.stop()])
        await stop.run('stores', [closeStores()])
      },
    }
  } catch (error) {
    await running?.stop()
    await stopGuard()
    await closeStores()
    throw error
  }
}

/** What the host's gate needs, of its services. */
function mountServices(services: HostServices): Parameters<typeof createApp>[1] {
  const { config, observe, metrics, history, aliasUsage, requestLog, readiness } = services
  const { serviceName, directUserKey, requireHttps, trustProxy, errorsPage } = config
  const {
    clock,
    guard,
    keyGuard,
    issuer,
    limits,
    webTokens,
    validated,
    isHeld,
    isPaused,
    aliases,
    idempotency,
    db,
    requirements,
  } = services
  return {
    guard,
    keyGuard,
    issuer,
    limits,
    webTokens,
    validated,
    isHeld,
    isPaused,
    clock,
    aliases,
    idempotency,
    db,
    requirements,
    operationRules: services.operationRules,
    operationTitles: services.operationTitles,
    providerMessages: services.providerMessages,
    spendStorage: services.spendStorage,
    approvalStorage: services.approvalStorage,
    scopes: services.scopes,
    serviceName,
    errorsPage,
    directUserKey,
    requireHttps,
    trustProxy,
    mcp: config.mcp ? { serviceName, version: VERSION, origin: originOf(config), requireHttps } : undefined,
    observe(decision) {
      metrics.observe(decision)
      if (decision.failure !== undefined) readiness.failed(decision.failure)
      history?.observe(decision)
      requestLog.record(decision)
      aliasUsage.record(decision.keyId, decision.aliases)
      observe(decision)
    },
  }
}
