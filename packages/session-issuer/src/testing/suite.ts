import type { FeedEntry } from '@gatewright/kernel'

/** A fresh or shared store whose revocation feed can be read. */
export interface UnderTestWithFeed<Storage> extends UnderTest<Storage> {
  /** All entries after a position, oldest first, over a connection of its own where there is one. */
  readFeed(after: number): Promise<readonly FeedEntry[]>
}

/** A fresh or shared store, seen through several connections. */
export interface UnderTest<Storage> {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly Storage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** Fixed for the suites: ports take their instants, so nothing waits. */
export const NOW = 1_767_225_600_000
export const MINUTE = 60_000

/** Text that breaks careless adapters. All are distinct. */
export const HOSTILE: readonly string[] = [
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
export function at<Storage>({ connections }: UnderTest<Storage>, index: number): Storage {
  return connections[index % connections.length] as Storage
}

/** How many of the calls resolved true. */
export function wins(results: readonly boolean[]): number {
  return results.filter(Boolean).length
}
