import type { Rule } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import { ruleOf } from '../http/mount/mount.ts'
import type { Operation } from '../http/operations/operation.ts'
import { assertOperationTable } from '../http/operations/operation-table.ts'
import { collectMessages } from '../http/provider-events/apply-event.ts'
import { providerEvents } from '../http/provider-events/provider-events.ts'
import { systemOperations } from '../http/operations/system-operations.ts'
import { cacheDocument } from '../http/operations/cached-document.ts'
import { openApiDocument } from '../openapi/document.ts'
import { sdkDocument } from '../openapi/sdk-document.ts'
import { events } from '../records/events.ts'
import { keptEvents } from '../records/kept-events.ts'
import { requests } from '../records/requests.ts'
import { collectHeartbeats } from '../storage/heartbeat.ts'
import { modulesOf, NO_REQUIREMENTS, type HostServices } from './host-services.ts'

/**
 * Builds and checks the operation table: what all modules serve, then the events of providers and the documents of the host. Routes,
 * access rules and the API description are derived from it.
 */
export function operationTable(services: HostServices): readonly Operation[] {
  const {
    db,
    clock,
    eventTypes,
    metrics,
    issuer,
    report,
    readiness,
    draining,
    config,
    aliasTable,
    documentation,
    requirements,
  } = services
  const table: readonly Operation[] = [
    ...modulesOf(services).flatMap(({ operations }) => operations?.(services) ?? []),
    providerEvents({
      db,
      clock,
      eventTypes,
      countEvent: (type, outcome) => metrics.providerEvent(type, outcome),
      report,
    }),
    ...systemOperations({
      clock,
      issuer,
      metrics,
      readiness,
      draining,
      description: () => description(),
      sdkDescription: () => sdkDescription(),
    }),
  ]
  assertOperationTable(table)
  const open = table.find(each => 'requires' in each && each.requires !== undefined)
  if (open && requirements === NO_REQUIREMENTS)
    throw new TypeError(
      `operation ${open.id} requires something of the account: replace the service requirements of HostFactories`,
    )
  const { serviceName, publicUrl = '/', directUserKey } = config
  const described = { serviceName, url: publicUrl, aliases: aliasTable, documentation, directUserKey }
  // At the first request: most of the time of a start would go into them.
  const description = once(() => cacheDocument(openApiDocument(table, described)))
  const sdkDescription = once(() => cacheDocument(sdkDocument(table, described)))
  return table
}

/** Returns what an operation asks of the sessions of a surface; undefined if it takes none of these sessions. */
export function sessionRule(services: HostServices, surface: Surface, id: string): Rule<never> | undefined {
  const operation = operationTable(services).find(each => each.id === id && each.surface === surface)
  return operation?.scopes && ruleOf(operation)
}

/** Makes a value at the first call, and returns it at every call. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Deletes up to `limit` rows that nobody needs any more, and resolves to their number. */
export type Collector = (limit: number) => Promise<number>

/** What is deleted when it has expired or ended: the rows of every host, then those of its modules. */
export function collectorsOf(services: HostServices): readonly Collector[] {
  const { backend, clock, config, approvals } = services
  const { nonces, sql, idempotency, spend, aliasUsage } = backend
  return [
    limit => nonces.collect(limit, clock.now()),
    limit => idempotency(sql).collect(limit, clock.now()),
    limit => spend(sql).collect(limit, clock.now()),
    async limit => (await approvals.expire(limit, clock.now())).length,
    limit => approvals.collect(limit, clock.now()),
    limit => aliasUsage.collect(limit, clock.now() - ALIAS_USAGE_MS),
    limit => collectHeartbeats(sql, limit, clock.now()),
    limit => collectMessages(sql, limit, clock.now()),
    limit => keptEvents.collect(sql, limit, clock.now()),
    limit => requests.collect(sql, limit, clock.now() - config.requestLog.days * DAY_MS),
    limit => events.collect(sql, limit, clock.now() - config.eventDays * DAY_MS),
    ...modulesOf(services).flatMap(({ collectors }) => collectors?.(services) ?? []),
  ]
}

const DAY_MS = 86_400_000
/** How long the use of a legacy name is kept: 400 days, so that yearly jobs show up. */
const ALIAS_USAGE_MS = 400 * DAY_MS
