import { keyName } from '../all-keys.ts'
import type { Policy } from '../../key/sentence.ts'
import { policiesOf } from './key-words.ts'
import { isLive, type Key } from '../wire.ts'

/** A key in the tree of makers, with the number of shown keys above it. */
export interface KeyNode {
  readonly key: Key
  readonly depth: number
}

/**
 * Puts keys into the order of their tree: each is followed by the keys below it. Keys of one level stay in the order of the list. A
 * key and its successors are one place in the tree, and keys below any of them follow all of them.
 */
export function keyTree(keys: readonly Key[]): KeyNode[] {
  const shown = new Set(keys.map(({ lineageId }) => lineageId))
  const isBelow = (key: Key, parent: string | null): boolean =>
    parent === null
      ? key.parentLineageId === null || !shown.has(key.parentLineageId)
      : key.parentLineageId === parent
  const level = (parent: string | null, depth: number): KeyNode[] => {
    const lineages = new Set(keys.filter(key => isBelow(key, parent)).map(({ lineageId }) => lineageId))
    return [...lineages].flatMap(lineage => [
      ...keys.filter(({ lineageId }) => lineageId === lineage).map(key => ({ key, depth })),
      ...level(lineage, depth + 1),
    ])
  }
  return level(null, 0)
}

/** Returns the keys below a key, at any depth. */
export function keysBelow({ lineageId }: Pick<Key, 'lineageId'>, keys: readonly Key[]): Key[] {
  const own = keys.filter(({ parentLineageId }) => parentLineageId === lineageId)
  return own.flatMap(key => [key, ...keysBelow(key, keys)])
}

/** Returns the policies that bind a key: its own, and those of the keys above it. */
export function policyChain(key: Key, keys: readonly Key[]): readonly Policy[] {
  // The list begins with the newest key, and a successor has the policies that count.
  const above = keys.find(({ lineageId }) => lineageId === key.parentLineageId)
  return above ? [...policyChain(above, keys), ...policiesOf(key)] : policiesOf(key)
}

/** Which keys the list shows. */
export interface KeyFilter {
  readonly state: 'live' | 'ended'
  /** A part of the name, the id or the prefix; empty for all. */
  readonly text: string
}

/** Returns the keys that a filter shows. Consoles are no keys of programs, and never shown. */
export function filterKeys(
  keys: readonly Key[],
  { state, text }: KeyFilter,
  now: number = Date.now(),
): Key[] {
  const wanted = text.trim().toLowerCase()
  return keys.filter(key => {
    if (key.console || isLive(key, now) !== (state === 'live')) return false
    return [keyName(key), key.id, key.keyPrefix].some(each => each.toLowerCase().includes(wanted))
  })
}
