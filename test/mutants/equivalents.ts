/** A mutation that changes nothing that a caller could see. */
export interface Equivalent {
  /** The source file. */
  readonly source: string
  /** The compiled line before and after the change. Without the latter: whatever changes in it. */
  readonly before: string
  readonly after?: string
  readonly reason: string
}

/** Mutations that no test can notice. They do not count. */
export const EQUIVALENTS: readonly Equivalent[] = [
  ...[
    'const CHAIN_BYTES = 3072;',
    'const LIMIT_BYTES = 384;',
    'const ENTRY_BYTES = 88;',
    'let bytes = CHAIN_BYTES + 2 * documentBytes;',
    'const entries = denyOperations.length + allowOperations.length + allowedIps.length;',
    'const named = limits.reduce((sum, { operations }) => sum + operations.length, 0);',
    'bytes += LIMIT_BYTES * (limits.length + 1) + ENTRY_BYTES * (entries + named);',
  ].map(before => ({
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before,
    reason: 'an estimate of memory: any near number is as good',
  })),
  {
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before: 'const MOST_SWEPT = 32;',
    reason: 'bounds the work of one call: any near number is as good',
  },
  {
    source: 'packages/scope-guard/src/policies/predicates.ts',
    before: 'const MOST_REMEMBERED = 64;',
    reason: 'bounds memory: any near number is as good',
  },
  {
    source: 'packages/scope-guard/src/policies/predicates.ts',
    before: 'byOperation.set(facts.operation, block);',
    reason: 'remembers what is computed again without it',
  },
]

/**
 * Whether a mutation leaves the order of a comparator for `sort` as it is: it returns 2 for 1, or it takes items for different that are
 * equal, which ids and names are not.
 */
export function keepsOrder(before: string, after: string): boolean {
  if (!before.includes('? -1 : 1')) return false
  return [
    before.replace(' < b', ' <= b'),
    before.replace(' > b', ' >= b'),
    before.replace('? -1 :', '? -2 :'),
    before.replace(': 1', ': 2'),
  ].some(changed => changed !== before && changed === after)
}
