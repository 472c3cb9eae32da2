/** A fresh or shared store that a contract suite reaches over several connections. */
export interface NoncesUnderTest<Storage> {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly Storage[]
  /** True if expired keys are deleted without `collect`. Otherwise the suite requires that `collect` deletes them. */
  readonly expiresNatively?: boolean
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** The instant at which the suites run. The ports take `now`, so no test waits. */
export const NOW = 1_767_225_600_000
/** One minute in ms. */
export const MINUTE = 60_000

/** Distinct keys that expose adapters which trim, fold, escape, normalise or cut off. */
export const HOSTILE_KEYS: readonly string[] = [
  '',
  '\u0000',
  '\ud800',
  '\udfff',
  "'; drop table gw_nonces; --",
  '{tag}:*',
  'line\r\nbreak',
  'é',
  'e\u0301',
  'K',
  'k',
  ' k',
  'x'.repeat(65_536),
  `${'x'.repeat(65_535)}y`,
]

/** Counts the calls that resolved to true. */
export function countTrue(results: readonly boolean[]): number {
  return results.filter(Boolean).length
}
