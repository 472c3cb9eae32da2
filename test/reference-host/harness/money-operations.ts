// Operations that move money, without a host around them: called as the host calls them, on a database of their own.
import type { Denial, Verdict } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { events, type HostServices, type Operation, newId } from '@gatewright/host'
import { type Ledger, createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import type { Providers } from '@gatewright/reference-host'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import { Ajv, type ValidateFunction } from 'ajv'
import { createGuard, type Guard } from '@gatewright/scope-guard'
import { migrateSpends as migratePostgresSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { migrateSpends as migrateSqliteSpends, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import type { Test } from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import { hostStores } from '../../harness/host-stores.ts'
import * as internals from '../../harness/internals.ts'
import { migrateCredentials } from '@gatewright/session-issuer/sqlite'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { openSqlite, uniqueName } from '../../harness/stores.ts'

/** Services of the host, those that operations on money use. `issuer`, `sealer` and what needs them are absent: only operations on cards that no test runs here use them. */
type Services = Parameters<typeof internals.withdrawalOperations>[0] &
  Parameters<typeof internals.depositOperations>[0] &
  Parameters<typeof internals.paymentOperations>[0] &
  Parameters<typeof internals.cardOperations>[0] &
  Parameters<typeof internals.authorizationOperations>[0] &
  Pick<HostServices, 'guard' | 'spendStorage'>

/** A request to an operation. */
export interface OperationRequest {
  readonly body?: unknown
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  /** Identifies the effect of a write. Default: a new one. */
  readonly effectId?: string
  /** Further members of the caller's session. */
  readonly session?: object
  /** A policy of the caller. */
  readonly policy?: object
  /** Runs in the transaction of a write, before its commit. */
  readonly beforeCommit?: () => Promise<void>
  /** The connection that the transaction of a write uses. */
  readonly on?: SqlClient
}

/** The response to a request: the data of a success, or the denial. */
export type OperationResult = Partial<Denial> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- its schema was checked, and a test that reads another member fails.
  readonly data?: Readonly<Record<string, any>>
  readonly next?: string
}
interface Success {
  readonly data: Readonly<Record<string, unknown>>
  readonly next?: string
}

/** An account and its money, as one test sees them. */
export interface MoneySetUp {
  readonly db: SqlClient
  /** Further connections to the database. */
  readonly others: readonly SqlClient[]
  readonly dialect: SqlDialect
  readonly clock: ManualClock
  readonly ledger: Ledger
  readonly guard: Guard
  readonly services: Services
  /** Adds a wallet user with so much money, and returns the account id. */
  addAccount(cents?: number, walletAddress?: string): Promise<string>
  /**
   * Runs an operation for an account: `handle`, or `prepare` and then `write` in one transaction that most denials roll back. Throws for
   * a response that the operation does not document.
   */
  run(operation: Operation, accountId: string, request?: OperationRequest): Promise<OperationResult>
  /** The balance of a ledger account. */
  balance(account: string): Promise<number>
  /** The events of a subject of an account, oldest first: from, to, cause, cents and detail. */
  history(accountId: string, kind: string, id: string): Promise<readonly (readonly unknown[])[]>
  /** What was reported to the operator. */
  readonly errors: unknown[]
}

const ajv = new Ajv({
  strict: false,
  code: { optimize: false },
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, [internals.NAME_FORMAT]: true },
})
const responseChecks = new Map<Operation, ValidateFunction>()

/** The statuses that an operation must name in its declaration, by the code of the denial. */
const DOCUMENTED: Readonly<Record<string, 404 | 409>> = { not_found: 404, invalid_state: 409 }

/** Members whose values an example of the API description cannot know. */
const VARYING = [
  'id',
  'createdAt',
  'updatedAt',
  'paidAt',
  'at',
  'validUntil',
  'depositAddress',
  'changeNowId',
]

/** A response without those members, to compare it with the example. */
export function withoutVarying(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data, (name, value) => (VARYING.includes(name) ? undefined : value)))
}

/** Checks a query as the gate does. */
function checkQuery(schema: NonNullable<Operation['query']>, query: string) {
  const given = Object.fromEntries(new URLSearchParams(query))
  const result = internals.querySchema(schema)['~standard'].validate(given)
  return result as Exclude<typeof result, Promise<unknown>>
}

class RolledBack extends Error {
  readonly denial: Denial
  constructor(denial: Denial) {
    super('denied')
    this.denial = denial
  }
}

async function migrateMoney(db: SqlClient): Promise<void> {
  await migrateHost(db)
  await migrateCredentials(db)
  await migrateLedger(db)
  await (db.dialect === 'postgres' ? migratePostgresSpends(db) : migrateSqliteSpends(db))
}

/** Opens a database, by default on the stores that `TEST_HOST_STORES` names, and makes the services on it. */
export async function openMoney(
  t: Test,
  providers: Providers = {},
  dialect: SqlDialect = hostStores().startsWith('postgres') ? 'postgres' : 'sqlite',
  count = 1,
): Promise<MoneySetUp> {
  const open = dialect === 'postgres' ? openKeptPostgres : openSqlite
  const { connections, close } = await open(count, migrateMoney)
  t.teardown(close)
  const [db, ...others] = connections.map(withAwaitedQueries) as [SqlClient, ...SqlClient[]]
  const clock = manualClock()
  const ledger = createLedger(db)
  const money = internals.createMoney(ledger)
  const guard = createGuard({
    issuer: 'test',
    audience: 'test',
    keys: async () => undefined,
    clock,
    failedCredentials: 'off',
  })
  const spendStorage = dialect === 'postgres' ? postgresSpends : sqliteSpends
  const errors: unknown[] = []
  const report = (error: unknown): void => void errors.push(error)
  const services = {
    db,
    clock,
    ledger,
    money,
    guard,
    spendStorage,
    providers,
    receivers: [],
    environment: 'sandbox',
    users: internals.userStore(db),
    deposits: internals.depositRecords({ money, report }),
    withdrawals: internals.withdrawalRecords({ money, guard, spendStorage }),
    jobs: internals.jobQueue({ db, clock, handlers: {}, report }),
    requirements: { check: async () => ({ ok: true, value: undefined }) },
  } as unknown as Services
  let wallets = 0

  return {
    db,
    others,
    dialect,
    clock,
    ledger,
    guard,
    services,
    errors,
    async addAccount(cents = 0, walletAddress = `0x${String((wallets += 1)).padStart(40, '0')}`) {
      const wallet = { wallet: walletAddress, walletAddress }
      const { accountId } = await services.users.findOrCreateByWallet(wallet, clock.now())
      if (cents > 0)
        await db.transaction(tx =>
          internals.creditPlayMoney(services, { accountId, keyId: 'key_1' }, cents, {
            tx,
            effectId: uniqueName(),
          }),
        )
      return accountId
    },
    async run(operation, accountId, request = {}) {
      const { body = {}, params = {}, query = '', session } = request
      const checked = operation.query && checkQuery(operation.query, query)
      if (checked?.issues) {
        const [{ message, path = [] } = { message: '' }] = checked.issues
        return { code: 'invalid_request', message, field: path[0] as string }
      }
      const call = {
        body,
        params,
        query: checked?.value,
        caller: { session: { accountId, surface: operation.surface, ...session } },
      } as never
      const problem = operation.body && internals.compileSchema(operation.body)(body)
      if (problem) return { code: 'invalid_request', message: problem.message }
      const result = await ('handle' in operation
        ? operation.handle(call)
        : write(operation, call, accountId, request))
      if (!result.ok) {
        const status = DOCUMENTED[result.code]
        if (status && !operation.denies?.includes(status))
          throw new Error(`${operation.id} does not document its ${status}`)
        return result
      }
      const { data, next } = result.value as Success
      const check = responseChecks.get(operation) ?? ajv.compile(operation.response)
      responseChecks.set(operation, check)
      if (!check(data))
        throw new Error(`the response of ${operation.id} breaks its schema: ${ajv.errorsText(check.errors)}`)
      return { data, ...(next === undefined ? {} : { next }) }
    },
    balance: account => ledger.balance(db, account),
    async history(accountId, kind, id) {
      const found = await events.history(db, accountId, { kind, id })
      return found.map(each => [each.from, each.to, each.cause, each.amountCents, each.detail])
    },
  }

  async function write(
    operation: Exclude<Operation, { handle: unknown }>,
    call: never,
    accountId: string,
    { effectId = newId('effect'), policy, beforeCommit, on = db }: OperationRequest,
  ): Promise<Verdict<Success>> {
    const ready = await operation.prepare?.(call, effectId)
    if (ready && !ready.ok) return ready
    const { id, spends } = operation
    // What is spent with a card counts under the caps of the card, which the operation checks itself.
    const isOfCaller = spends === 'spend' || spends === 'withdrawal'
    const rule = { operation: id, allOf: [], ...(isOfCaller ? { spends } : {}) }
    guard.prepare(rule)
    const policies = policy ? [{ id: `${accountId}.policy`, document: policy }] : []
    const access = guard.checkPolicies(accountId, policies, rule)
    if (!access.ok) return access
    try {
      return await on.transaction(async tx => {
        let mustReserve = isOfCaller
        const written = await operation.write(call, {
          tx,
          effectId,
          prepared: ready?.value,
          async reserve(spend) {
            const held = await guard.reserve(access.value, spend, spendStorage(tx))
            if (held.ok) mustReserve = false
            return held
          },
          permits: amount => guard.permits(access.value, amount),
          spendsNothing() {
            mustReserve = false
          },
        })
        if (written.ok && mustReserve) throw new Error(`${id} succeeded without a reservation`)
        // A denial for the state is a stored response, whose transaction commits.
        if (!written.ok && written.code !== 'invalid_state') throw new RolledBack(written)
        await beforeCommit?.()
        return written
      })
    } catch (error) {
      if (error instanceof RolledBack) return error.denial
      throw error
    }
  }
}
