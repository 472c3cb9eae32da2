import { gate, type Observe } from '@gatewright/http'
import type { TransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import type { ScopeCatalogue } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { ApprovalStorage, SpendStorage } from '@gatewright/scope-guard'
import { callerFinder, hostCredentials, type CredentialServices } from '../credentials/credentials.ts'
import type { Requirements } from '../operations/requirements.ts'
import type { Operation, OperationRules } from '../operations/operation.ts'
import type { ReceiveProviderMessage } from '../credentials/provider-messages.ts'
import { renderer, type RenderServices } from './render.ts'

/** The services that the host's gate uses. */
export interface MountServices extends CredentialServices, RenderServices {
  readonly idempotency: TransactionalIdempotency
  /** The database of writes without an idempotency key. */
  readonly db: SqlClient
  readonly requirements: Requirements
  /** Takes the rule of each operation with a session, by its surface and id. */
  readonly operationRules: OperationRules
  /** Takes the title of each operation, by its id. Where both surfaces have an id, that of users is kept. */
  readonly operationTitles: Map<string, string>
  readonly providerMessages: ReceiveProviderMessage
  /** Makes the storage of spend counters in the transaction of a write. */
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
  /** Makes the storage of approvals in the transaction of a write. */
  readonly approvalStorage: (tx: SqlQueries) => ApprovalStorage
  readonly observe: Observe
  /** All scopes that operations may name. */
  readonly scopes: ScopeCatalogue<string>
  /** What `POST /mcp` says about the host. Undefined: the host does not serve it. */
  readonly mcp?: McpOptions | undefined
  /** CIDRs of proxies whose statements about client address and scheme are trusted. */
  readonly trustProxy: readonly string[]
}

/** The facts of a host that its server of tools says. */
export interface McpOptions {
  readonly serviceName: string
  /** The version of the API. */
  readonly version: string
  /** The host's own origin. */
  readonly origin: string
  readonly requireHttps: boolean
}

/** The gate of the host's operations. */
export type HostGate = ReturnType<typeof createHostGate>

/** Creates the gate. */
export function createHostGate(table: readonly Operation[], services: MountServices) {
  const { guard, aliases, idempotency, spendStorage, approvalStorage, observe, trustProxy, scopes } = services
  return gate({
    aliases,
    guard: { ...guard, authenticate: callerFinder(services) },
    scopes,
    credentials: hostCredentials(services),
    transactions: idempotency,
    spendStorage,
    approvalStorage,
    observe,
    trustProxy,
    render: renderer(table, services),
    // The decision event contains the failure.
    report: () => {},
    // So does its reason.
    hint: false,
  })
}
