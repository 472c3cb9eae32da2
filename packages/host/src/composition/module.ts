import type { SqlClient } from '@gatewright/kernel/sql'
import type { Command } from '../cli/command.ts'
import type { Operation } from '../http/operations/operation.ts'
import type { EventType } from '../http/provider-events/provider-event-types.ts'
import type { JobHandler } from '../records/jobs.ts'
import type { Restore } from '../storage/restores.ts'
import type { Chore } from './chores.ts'

/** A file that exports commands. */
export interface CommandFile<C> {
  readonly commands: readonly C[]
}

/** What a module did after a restore, and what it found. Each is a sentence for the operator, without personal data. */
export interface RestoreFindings {
  readonly done: readonly string[]
  /** What a person must look at. */
  readonly differences: readonly string[]
}

/**
 * One part of a product. Each member is optional; those that are functions get the services of the host and are called once a start.
 * A module names the services that it needs as `S`. It registers metrics of its own on `metrics.registry`.
 */
export interface Module<S> {
  /** What it serves. */
  readonly operations?: (services: S) => readonly Operation[]
  /** Creates or updates its tables: `migrate` of `@gatewright/kernel/sql` with a namespace of its own. */
  readonly tables?: (db: SqlClient) => Promise<void>
  /** Handlers of jobs, by kind. */
  readonly jobs?: (services: S) => Readonly<Record<string, JobHandler>>
  /** What it repeats in the background. */
  readonly chores?: (services: S) => readonly Chore[]
  /** Deletes up to `limit` rows that nobody needs any more, and resolves to their number. Called every minute. */
  readonly collectors?: (services: S) => readonly ((limit: number) => Promise<number>)[]
  /** How events of providers are applied, by their type. */
  readonly providerEvents?: (services: S) => Readonly<Record<string, EventType>>
  /**
   * Loads its operator commands, such as `() => import('./commands.ts')`. Called only when a command runs, which is without
   * `operations`, `chores` and a listener.
   */
  readonly commands?: () => Promise<CommandFile<Command<S>>>
  /**
   * What it does after the database was brought back to an earlier time (`gatewright restored`): makes unusable what would count a second
   * time, and compares its rows with systems that remember. May run again.
   */
  readonly restored?: (services: S, restore: Restore) => Promise<RestoreFindings>
  /** Work that a start waits for, before the first chore and the first request. */
  readonly start?: (services: S) => Promise<void>
}

/** Merges what modules give by name. Throws a `TypeError` for a name that two of them give. */
export function mergeByName<T>(
  what: string,
  given: readonly Readonly<Record<string, T>>[],
): Readonly<Record<string, T>> {
  const merged: Record<string, T> = {}
  for (const [name, value] of given.flatMap(each => Object.entries(each))) {
    if (Object.hasOwn(merged, name)) throw new TypeError(`two modules have the ${what} ${name}`)
    merged[name] = value
  }
  return merged
}
