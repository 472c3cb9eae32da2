import type { FeedEntry } from '@gatewright/kernel'

/** A fresh or shared store whose revocation feed the suite can read. */
export interface StorageWithFeedUnderTest<Storage> extends CredentialsUnderTest<Storage> {
  /**
   * All entries after the position of their lane (`FEED_START`: all), of each lane oldest first, over a connection of its own where the store
   * has connections.
   */
  readFeed(positions: readonly number[]): Promise<readonly FeedEntry[]>
}

/** A fresh or shared store that a contract suite reaches over several connections. */
export interface CredentialsUnderTest<Storage> {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly Storage[]
  /** True if expired sessions are deleted without `collect`. Otherwise the suite requires that `collect` deletes them. */
  readonly expiresNatively?: boolean
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** The instant at which the suites run. The ports take their instants, so no test waits. */
export const NOW = 1_767_225_600_000
export const MINUTE = 60_000

/** Ids that no row has: too short for a route, patterns of SQL, and characters that a route cuts in two. */
export const STRANGE_IDS: readonly string[] = [
  '',
  'a',
  'pol_',
  'pol_a',
  '%',
  '%%',
  '__',
  "a'--",
  'é',
  'a\u{1f600}b',
  'pol_a\u{1f600}b',
]

/** Distinct texts that expose adapters which trim, fold, escape, normalise or cut off. */
export const HOSTILE_TEXTS: readonly string[] = [
  '\u0000',
  '\ud800',
  '\udfff',
  "'; drop table gw_keys; --",
  '{tag}:*',
  'line\r\nbreak',
  'é',
  'e\u0301',
  'K',
  'k',
  ' k',
  '%',
  '_',
  'x'.repeat(65_536),
  `${'x'.repeat(65_535)}y`,
]

/** The port over connection `index`, round robin. */
export function connection<Storage>({ connections }: CredentialsUnderTest<Storage>, index: number): Storage {
  return connections[index % connections.length] as Storage
}

/** Counts the calls that resolved to true. */
export function countTrue(results: readonly boolean[]): number {
  return results.filter(Boolean).length
}
