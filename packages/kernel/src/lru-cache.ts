/** An entry, between those that were used just before and just after it. */
interface Entry<K, V> {
  readonly key: K
  readonly value: V
  readonly size: number
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

/** What a cache keeps at most, and what happens to what it drops. */
interface LruCacheOptions<K, V> {
  /** How large the entries may be together. */
  readonly maxSize: number
  /** Called with every entry that is removed or replaced, and with one that is too large to be kept. */
  readonly dispose?: (value: V, key: K) => void
}

/**
 * A map that drops the entries which were used longest ago when all together are too large. A list beside the map keeps their order: a map
 * alone, whose entries are deleted and set again, would pass over all deleted ones to find the oldest.
 */
export class LruCache<K, V> {
  readonly #options: LruCacheOptions<K, V>
  readonly #entries = new Map<K, Entry<K, V>>()
  #oldest: Entry<K, V> | undefined
  #newest: Entry<K, V> | undefined
  #size = 0

  constructor(options: LruCacheOptions<K, V>) {
    this.#options = options
  }

  /** How large the entries are together. */
  get size(): number {
    return this.#size
  }

  /** Returns a value without recording its use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns a value, which is then the one that was used last. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  /** Keeps a value of a size, in place of one under the same key. */
  set(key: K, value: V, size: number): void {
    const { maxSize, dispose } = this.#options
    this.delete(key)
    if (size > maxSize) return dispose?.(value, key)
    const entry = { key, value, size, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    this.#size += size
    while (this.#size > maxSize && this.#oldest) this.delete(this.#oldest.key)
  }

  /** Removes a value, if there is one. */
  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#unlink(entry)
    this.#size -= entry.size
    this.#options.dispose?.(entry.value, key)
  }

  /** Iterates over the keys, the one that was used longest ago first. Entries may be deleted meanwhile. */
  *oldestKeys(): Generator<K, void> {
    let entry = this.#oldest
    while (entry) {
      // Before the caller may delete this one.
      const { key, newer }: Entry<K, V> = entry
      if (this.#entries.get(key) === entry) yield key
      entry = newer
    }
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}
