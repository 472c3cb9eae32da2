import { readFile } from 'node:fs/promises'
import { accountsWithSessions, liveKeys } from '@gatewright/session-issuer/internal'
import type { EpochMs } from '@gatewright/kernel'
import { instantArgument } from '../cli/arguments.ts'
import { isoOrNull } from '../cli/cell.ts'
import {
  CommandError,
  UsageError,
  reportElapsed,
  type Command,
  type CommandArguments,
} from '../cli/command.ts'
import { holdKeys } from '../records/held-keys.ts'
import { newId } from '../records/new-id.ts'
import { operatorActions } from '../records/operator-actions.ts'
import { recordLostHistory } from '../storage/lost-history.ts'
import { newestHeartbeat, recordRestore, type Restore } from '../storage/restores.ts'
import { modulesOf, type HostServices } from './host-services.ts'
import type { RestoreFindings } from './module.ts'

/** How many sessions one statement ends. */
const BATCH = 1000
/** A heartbeat is written every 5 s: the newest one may be that much older than the end of the restored history. */
const HEARTBEAT_MS = 10_000

interface RestoredArguments {
  readonly since: EpochMs
  /** A file with the accounts whose keys have changed since then; undefined: not known. */
  readonly changed: string | undefined
}

/**
 * The command to run after the database was brought back to an earlier time, before hosts serve again. It may run again after a failure.
 */
export const restoredCommand: Command<HostServices> = {
  name: 'restored',
  takes: [],
  options: {
    since: 'the time that the database was brought back to (RFC 3339); required',
    changed:
      'a file with the ids of the accounts whose keys have changed since then, one per line; default: all accounts',
  },
  summary:
    'After a restore from a backup: deny what the database would accept a second time, and compare its money with the providers',
  example: '--since 2026-11-27T02:00:00Z',
  confirm:
    'Ends all sessions, denies held keys and statements that wallets have signed, and moves the signing key and deposit addresses on. No host is ready until npx gatewright history accept.',
  besideHost: false,
  check: argumentsOf,
  async subject({ db, clock }, args) {
    const { since, changed } = argumentsOf(args)
    await assertSince(db, since, clock.now())
    const keys = changed === undefined ? 'all keys' : `the keys of the accounts in ${changed}`
    return `Take the database as restored to ${isoOrNull(since)}, and hold ${keys}.`
  },
  async run(services, args) {
    const { since, changed } = argumentsOf(args)
    const { db, clock, issuer } = services
    await assertSince(db, since, clock.now())
    const only = changed === undefined ? undefined : await accountsIn(changed)
    const { restore, held } = await beginRestore(services, since, only)
    for (const { kid } of await issuer.listSigningKeys()) await issuer.dropSigningKey(kid)
    const ended = await reportElapsed(services, 'Ending sessions', endSessions(services))
    const findings = await moduleFindings(services, restore)
    const done = [`Sessions ended: ${ended}. Keys held: ${held}. A new signing key signs.`, ...findings.done]
    return {
      data: { since: isoOrNull(since), sessionsEnded: ended, keysHeld: held, ...findings },
      lines: [...done, ...differenceLines(findings.differences), ...NEXT],
    }
  },
}

const NEXT = [
  'Next: npx gatewright ledger check --full; then npx gatewright keys held and keys release;',
  'last npx gatewright history accept, after which hosts become ready.',
]

const differenceLines = (differences: readonly string[]): readonly string[] =>
  differences.length === 0
    ? ['No differences from the providers were found.']
    : [
        `Differences, which a person must book or decide (${differences.length}):`,
        ...differences.map(each => `  ${each}`),
      ]

function argumentsOf({ options: { since, changed } }: CommandArguments): RestoredArguments {
  if (since === undefined) throw new UsageError('restored needs --since')
  return { since: instantArgument('--since', since), changed }
}

/** Throws for a time after which the database has nothing: writes before that time are lost as well. */
async function assertSince(db: HostServices['db'], since: EpochMs, now: EpochMs): Promise<void> {
  if (since > now) throw new CommandError('--since must not be in the future')
  const newest = await newestHeartbeat(db)
  if (newest !== undefined && since > newest + HEARTBEAT_MS)
    throw new CommandError(
      `the last heartbeat of a host in this database is of ${isoOrNull(newest)}: it may have lost all writes since. Give this time or an earlier one`,
    )
}

async function accountsIn(path: string): Promise<ReadonlySet<string>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`--changed: ${(error as Error).message}`)
  })
  return new Set(
    text
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== ''),
  )
}

/** Records the restore, makes all hosts not ready, and holds keys: in one transaction, so that a crash leaves nothing half done. */
async function beginRestore(
  { db, clock }: HostServices,
  since: EpochMs,
  only: ReadonlySet<string> | undefined,
): Promise<{ readonly restore: Restore; readonly held: number }> {
  return db.transaction(async tx => {
    const now = clock.now()
    const restore = await recordRestore(tx, since, now)
    await recordLostHistory(tx, {
      hostId: newId('restored'),
      foundAt: now,
      keptAt: since,
      acknowledgedAt: now,
      acceptedAt: null,
    })
    const live = await liveKeys(tx, now)
    const keys = live.filter(({ accountId }) => only?.has(accountId) ?? true)
    await holdKeys(
      tx,
      keys.map(({ id: keyId, accountId }) => ({ keyId, accountId })),
      now,
    )
    const detail = `restored to ${isoOrNull(since)}; held ${keys.length} of ${live.length} keys`
    await operatorActions.record(tx, { at: now, command: 'restored', accountId: '', detail })
    return { restore, held: keys.length }
  })
}

/** Ends the sessions of all accounts, and returns their number. */
async function endSessions({ db, backend, clock }: HostServices): Promise<number> {
  let total = 0
  for (const accountId of await accountsWithSessions(db, clock.now())) {
    let ended: number
    do {
      ended = await backend.issuer.sessions.revokeAccount(accountId, BATCH, clock.now())
      total += ended
    } while (ended > 0)
  }
  return total
}

/** Lets every module do what it must after a restore. */
async function moduleFindings(services: HostServices, restore: Restore): Promise<RestoreFindings> {
  const done: string[] = []
  const differences: string[] = []
  for (const { restored } of modulesOf(services)) {
    if (!restored) continue
    const found = await restored(services, restore)
    done.push(...found.done)
    differences.push(...found.differences)
  }
  return { done, differences }
}
