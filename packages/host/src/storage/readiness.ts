import { open } from 'node:fs/promises'
import { devNull } from 'node:os'
import type { Clock } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { newerTables, toInteger } from '@gatewright/kernel/internal/sql'
import { shareResult } from './share-result.ts'
import { OperatorWarning } from '../observability/warning.ts'
import type { Backend, DependencyCheck } from './backend.ts'
import { causeText, hasCode } from '../records/cause.ts'
import { checkInTime, type CheckResult } from './check-in-time.ts'
import { askWorkers } from './citus-workers.ts'
import { createHeartbeat } from './heartbeat.ts'
import { countOpenLosses, type LostHistory } from './lost-history.ts'

/** Whether a host is ready: whether a write would succeed now. */
export interface ReadinessState {
  readonly ready: boolean
  /**
   * - `database`: it takes writes, which is not tried while the clock is wrong;
   * - `clock`: this host's clock agrees with that of Postgres;
   * - `history`: the database has everything that it has acknowledged;
   * - `tables`: this software knows enough of their versions to work with them;
   * - `disk`: there is room for data;
   * - `files`: this process may open another file or connection;
   * - `redis`: each master takes writes and keeps them. The host goes on and is ready without, and counts rate limits itself;
   * - `worker` and a number: this machine of a Citus answers. While another one does, the host is ready, and serves the accounts of that one.
   *
   * What only a reply of the database shows is left out while it does not reply.
   */
  readonly dependencies: Readonly<Record<string, 'ok' | 'down'>>
  /** How long the check of each store took. */
  readonly stores: readonly { readonly name: string; readonly ok: boolean; readonly ms: number }[]
}

/** Knows whether this host is ready. */
export interface Readiness {
  /** Checks all dependencies, each for 2 seconds at most, and Redis for half a second. Calls within a second share one result. Never rejects. */
  check(): Promise<ReadinessState>
  /**
   * Whether this host may delete or end what is due by its clock: the database works, has lost nothing, and its clock agrees. A host whose
   * clock is ahead would delete what is still valid for all others.
   */
  mayDeleteByTime(): Promise<boolean>
  /**
   * Takes the error of a request. A disk that is full for new data may have room for a heartbeat, which replaces a row: after a write
   * that found it full, `disk` is down for 30 seconds.
   */
  failed(error: unknown): void
}

interface ReadinessServices {
  readonly backend: Pick<Backend, 'sql' | 'checks' | 'assertRoom'>
  readonly clock: Clock
  /** Takes each change of a dependency once, with its cause, and each loss of history. */
  readonly report: (error: unknown) => void
}

/** How long a result is shared, in ms. */
const SHARED_MS = 1000
/** How long the check of a dependency may take, in ms. */
const CHECK_MS = 2000
/** The same for a store that the host goes on without. Probes often wait for one second, and must not take this host out of rotation for it. */
const UNNEEDED_CHECK_MS = 500
/** A host whose clock differs more from that of its database is not ready. */
const MAX_SKEW_MS = 2000
/** How long a host is not ready after a write that found the disk full. */
const FULL_DISK_MS = 30_000
/** What Postgres and SQLite reply when there is no room for new data. */
const FULL_DISK = /^(?:53100|SQLITE_FULL)$/
/** What Postgres replies to a write when it takes none. */
const READ_ONLY = /^25006$/

/** The reason why a dependency is down, by its name; undefined: it works. */
type Causes = Readonly<Record<string, string | undefined>>

/** Makes what knows whether a host is ready. */
export function createReadiness({ backend, clock, report }: ReadinessServices): Readiness {
  const { sql: db, checks, assertRoom = async () => {} } = backend
  const beat = createHeartbeat(db, clock)
  // A machine that hangs must not take one connection for each check.
  const workers = shareResult(() => askWorkers(db), clock, SHARED_MS)
  const downSince = new Map<string, number>()
  let fullAt = -Infinity

  const isNeeded = (name: string): boolean => !Object.hasOwn(checks, name) && !name.startsWith('worker')
  const writeHeartbeat = async (): Promise<void> => {
    try {
      const loss = await beat()
      if (loss) report(new Error(lossText(loss)))
    } catch (error) {
      throw hasCode(error, READ_ONLY) ? new Error(await readOnlyText(db)) : error
    }
  }
  const checkDatabase = async (): Promise<Causes> => {
    const ofClock = await clockCauses(db)
    const { working, lost } = await workers()
    // Other hosts would delete the row of a host whose clock is weeks behind, and all would take that for lost history.
    if (ofClock.clock === undefined)
      await writeHeartbeat().catch((error: unknown) => {
        // Its row is on one machine of a Citus, perhaps on a lost one. The host serves the accounts of the others.
        if (lost.length === 0 || working.length === 0) throw error
      })
    return {
      ...ofClock,
      ...(await historyCauses(db)),
      ...(await tableCauses(db)),
      ...Object.fromEntries(working.map(name => [name, undefined])),
      ...Object.fromEntries(lost.map(({ name, cause }) => [name, cause])),
    }
  }
  const checkDisk = async (): Promise<void> => {
    const age = clock.now() - fullAt
    if (age >= 0 && age < FULL_DISK_MS) throw new Error('a write found the disk of the database full')
    await assertRoom()
  }
  const noteChanges = (causes: Causes): void => {
    for (const [name, cause] of Object.entries(causes)) {
      const since = downSince.get(name)
      if (cause !== undefined && since === undefined) {
        downSince.set(name, performance.now())
        report(new OperatorWarning(`${isNeeded(name) ? 'not ready, ' : ''}${name}: ${cause}`))
      } else if (cause === undefined && since !== undefined) {
        downSince.delete(name)
        const seconds = Math.round((performance.now() - since) / 1000)
        report(new OperatorWarning(`${name} works again after ${seconds} s`))
      }
    }
  }
  const check = shareResult(
    async (): Promise<ReadinessState> => {
      const [database, stores, local] = await Promise.all([
        checkInTime(checkDatabase, CHECK_MS),
        checkAll(checks, UNNEEDED_CHECK_MS),
        checkAll({ disk: checkDisk, files: openFile }, CHECK_MS),
      ])
      const measured = [{ name: 'database', ...database }, ...stores]
      const causes: Causes = {
        ...causesOf([...measured, ...local]),
        ...(database.ok ? database.value : {}),
      }
      noteChanges(causes)
      return {
        ready: Object.entries(causes).every(([name, cause]) => cause === undefined || !isNeeded(name)),
        dependencies: Object.fromEntries(
          Object.entries(causes).map(([name, cause]) => [name, cause === undefined ? 'ok' : 'down']),
        ),
        stores: measured.map(({ name, ok, ms }) => ({ name, ok, ms })),
      }
    },
    clock,
    SHARED_MS,
  )
  return {
    check,
    async mayDeleteByTime() {
      const { dependencies } = await check()
      return ['database', 'clock', 'history'].every(name => dependencies[name] !== 'down')
    },
    failed(error) {
      if (hasCode(error, FULL_DISK)) fullAt = clock.now()
    },
  }
}

type NamedResult = CheckResult<unknown> & { readonly name: string }

function checkAll(
  checks: Readonly<Record<string, DependencyCheck>>,
  limitMs: number,
): Promise<readonly NamedResult[]> {
  return Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, ...(await checkInTime(check, limitMs)) })),
  )
}

function causesOf(results: readonly NamedResult[]): Causes {
  return Object.fromEntries(
    results.map(result => [result.name, result.ok ? undefined : causeText(result.error)]),
  )
}

/** Says why the database takes no writes. */
async function readOnlyText(db: SqlClient): Promise<string> {
  const [row] = await rows(db, 'select pg_is_in_recovery() as replica')
  return row?.['replica'] === true
    ? 'it is a replica in recovery and takes no writes: let DATABASE_URL lead to the primary'
    : 'it takes no writes: default_transaction_read_only is on'
}

/** SQLite is on this machine, and has its clock. */
async function clockCauses(db: SqlClient): Promise<{ readonly clock?: string | undefined }> {
  if (db.dialect === 'sqlite') return {}
  const [row] = await rows(db, 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now')
  const skewMs = Math.abs(toInteger(row?.['now']) - Date.now())
  const cause = `this host's clock is ${skewMs} ms off its database's`
  return { clock: skewMs > MAX_SKEW_MS ? cause : undefined }
}

async function historyCauses(db: SqlClient): Promise<Causes> {
  const losses = await countOpenLosses(db)
  const cause = 'the database has lost writes that it had acknowledged: see npx gatewright history list'
  return { history: losses > 0 ? cause : undefined }
}

async function tableCauses(db: SqlClient): Promise<Causes> {
  const needs = (await newerTables(db)).map(
    ({ namespace, least, known }) => `version ${least} of ${namespace} (this software knows ${known})`,
  )
  const cause = `the tables need software that knows ${needs.join(', ')}: start the newer software here too`
  return { tables: needs.length > 0 ? cause : undefined }
}

/** Opens a file, which fails when the process has no file descriptor left. It accepts no connection then either. */
async function openFile(): Promise<void> {
  await (await open(devNull)).close()
}

function lossText({ acknowledgedAt, keptAt }: LostHistory): string {
  const at = (instant: number): string => new Date(instant).toISOString()
  const newest = keptAt === null ? 'has no heartbeat of this host' : `has heartbeats up to ${at(keptAt)}`
  return `the database has lost history: it ${newest}, and had acknowledged one of ${at(acknowledgedAt)}. Writes in between are lost. See npx gatewright history list`
}
